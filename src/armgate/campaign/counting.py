"""How many tokens a prompt has: asked of the server, else of the pinned tokenizer files, and which it was."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from armgate.client.tokens import FORMS, CountUnavailable, Tokenizing, form_of
from armgate.engines.hub import cache_folder, snapshot_path
from armgate.engines.launchers.protocol import arm_files
from armgate.errors import UsageError
from armgate.loading.tokenizer_files import TokenizerFiles
from armgate.model.base import Json
from armgate.model.haystack import CountCheck
from armgate.model.pins import DirectoryPin, HfPin

if TYPE_CHECKING:
    from armgate.campaign.gate import GateRunner

Request = Mapping[str, Json]


@dataclasses.dataclass(frozen=True)
class PromptCounter:
    """One boot's way to count. `check` holds its count of a prompt beside what the server reported for it."""

    by: str
    count: Callable[[Request], Awaitable[int]]
    check: CountCheck


async def prompt_counter(runner: GateRunner) -> PromptCounter:
    """The counter of this boot, chosen on the readiness prompt; else CountUnavailable with every reason."""
    files, lacking = await asyncio.to_thread(_files, runner)
    server = Tokenizing(
        runner.http, runner.server.url, runner.model_id, files.render if files is not None else None
    )
    request = count_request(runner, runner.readiness_messages)
    try:
        by = await form_of(server, request)
        count = _asking(server, by)
    except CountUnavailable as error:
        if files is None:
            raise CountUnavailable(f"{error}; {lacking}") from None
        by = f"tokenizer.json of the pinned model ({files.digest[:19]})"
        count = _reading(files)
    counted = await count(request)
    return PromptCounter(by, count, CountCheck(counted=counted, served=runner.readiness_tokens))


def count_request(runner: GateRunner, messages: object, tools: object = ()) -> dict[str, Json]:
    """What of a chat request decides its prompt's tokens."""
    request: dict[str, Json] = {"messages": messages}
    if tools:
        request["tools"] = tools
    switches = runner.arm.template_switches
    return {**request, "chat_template_kwargs": switches} if switches else request


def _asking(server: Tokenizing, by: str) -> Callable[[Request], Awaitable[int]]:
    return lambda request: FORMS[by](server, request)


def _reading(files: TokenizerFiles) -> Callable[[Request], Awaitable[int]]:
    async def count(request: Request) -> int:
        try:
            return await asyncio.to_thread(files.count, request)
        except UsageError as error:
            raise CountUnavailable(str(error)) from None

    return count


def _files(runner: GateRunner) -> tuple[TokenizerFiles | None, str]:
    """The files of the tokenizer pin, else of the target's; or why there are none."""
    plan, arm, workspace = runner.setting.plan, runner.arm, runner.setting.workspace
    pin = plan.pins[arm.tokenizer or arm.target]
    folder: Path | None = None
    if isinstance(pin, DirectoryPin):
        folder = (workspace.root / pin.dir).resolve()
    elif isinstance(pin, HfPin):
        folder = snapshot_path(pin, cache_folder())
    if folder is None or not folder.is_dir():
        return None, "no folder of tokenizer files is pinned on this machine"
    try:
        return TokenizerFiles.load(folder, arm_files(arm, plan.pins, workspace.root).chat_template), ""
    except UsageError as error:
        return None, str(error)
