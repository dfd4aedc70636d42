"""`armgate check`: judge one recorded exchange, or one bare answer, against one contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from armgate.cli.options import JsonOption, WorkspaceOption
from armgate.cli.output import SIGNS, console, inert, print_json
from armgate.errors import DeclarationError, Problem, UsageError
from armgate.judging.contract import judge_exchange, judge_text
from armgate.loading.contracts import contract_path, load_contract
from armgate.loading.workspace import find_workspace
from armgate.model.base import Json
from armgate.model.contract import Contract
from armgate.model.exchange import Exchange
from armgate.model.exchange_form import parse_exchange
from armgate.model.judgement import Judgement
from armgate.model.outcome import Outcome
from armgate.model.reading import read_response
from armgate.model.response import Response

EXIT_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.VOID: 3, Outcome.ERRORED: 4}

ContractOption = Annotated[
    str, typer.Option("--contract", help="Contract file, or a contract's id in the workspace.")
]
ExchangeOption = Annotated[Path | None, typer.Option("--exchange", help="A recorded exchange.")]
TextOption = Annotated[
    Path | None, typer.Option("--text", help="A bare answer: UTF-8 text, judged verbatim.")
]


def check(
    contract: ContractOption,
    exchange: ExchangeOption = None,
    text: TextOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge one answer; exit 0 passed, 1 failed, 3 void, 4 errored, 2 wrong usage."""
    if (exchange is None) == (text is None):
        raise UsageError("give either --exchange FILE or --text FILE")
    promised = _contract(contract, workspace)
    judged, response = _judged(promised, exchange, text)
    if as_json:
        print_json(_document(judged, response))
    else:
        _show(judged, response)
    raise typer.Exit(EXIT_CODES[judged.outcome])


def _contract(named: str, workspace: Path | None) -> Contract:
    path = Path(named)
    if not path.is_file() and not path.suffix:
        path = contract_path(named, find_workspace(workspace))
    return load_contract(path)


def _judged(contract: Contract, exchange: Path | None, text: Path | None) -> tuple[Judgement, Response]:
    if exchange is not None:
        recorded: Exchange = parse_exchange(_bytes(exchange), exchange)
        response = read_response(recorded)
        return judge_exchange(contract, recorded, response), response
    assert text is not None
    answer = _answer(text)
    return judge_text(contract, answer), Response(content=answer, finish_reason="stop")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DeclarationError([Problem(path, None, None, "", f"cannot be read: {error.strerror}")]) from None


def _answer(path: Path) -> str:
    """The file's text, byte for byte: no line end is translated and no byte order mark is taken off."""
    data = _bytes(path)
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DeclarationError([Problem(path, line, None, "", "is not UTF-8 text")]) from None


def _document(judged: Judgement, response: Response) -> dict[str, Json]:
    read = response.model_dump(mode="json")
    return {**judged.model_dump(mode="json"), "response": _writable(read)}


def _writable(value: Json) -> Json:
    """Figures of a server's own may overflow (`1e999`); JSON has no number for them, so they become words."""
    if isinstance(value, dict):
        return {key: _writable(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_writable(below) for below in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _show(judged: Judgement, response: Response) -> None:
    sign, colour = SIGNS[judged.outcome]
    out = console()
    because = f"  ({judged.cause})" if judged.cause else ""
    out.print(
        f"{sign} {judged.outcome}  {judged.contract}{because}", style=colour, markup=False, highlight=False
    )
    lines = [judged.message] if judged.message else []
    for violation in judged.violations:
        place = violation.channel or "response"
        if violation.span is not None:
            place += f" bytes {violation.span[0]}-{violation.span[1]}"
        lines.append(f"{violation.clause}: {violation.message}  [{place}]")
    lines += [f"note: {finding.message}" for finding in judged.findings]
    lines += [f"not applicable to a bare text: {name}" for name in judged.not_applicable]
    for line in lines:
        out.print("  " + inert(line), markup=False, highlight=False, soft_wrap=True)
