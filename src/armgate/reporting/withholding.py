"""What of a run's own records may be published: names, paths, addresses and people's words are withheld."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from armgate.model.arms import Arm, AttachLauncher, ProcessLauncher
from armgate.model.base import Json
from armgate.model.boots import BootRecord
from armgate.model.outcome import Outcome, SampleVerdict, Verdict, Violation
from armgate.model.plan import Plan
from armgate.model.redaction import names_a_credential

WITHHELD = "(withheld)"
WITH_REPLIES = "withheld with the replies"

ABSOLUTE_PATH = re.compile(r"(?<![\w./~-])(?:/[\w.@+,~=-]+){2,}/?")
_ADDRESS = re.compile(
    r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
    r"|\b(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{1,4}\b(?=\]|$|[\s,;])"
)
_URL_HOST = re.compile(r"(?<=://)(?!127\.0\.0\.1|localhost)[^/\s\"']+")
ENVIRONMENT = re.compile(r"(VLLM|SGLANG|OMP|NCCL|CUDA|TORCH|HF_HUB|LANG|LD_PRELOAD)(_[A-Z0-9_]+)?")
"""Variables that may be published, their values without paths and addresses."""

HARDWARE = (
    "machine", "system", "kernel", "processor", "cores", "clock_max_khz", "clock_governor", "memory_bytes",
    "swap_bytes", "nodes", "accelerators", "interconnect",
)  # fmt: skip
HEADERS = frozenset(("content-type", "content-length", "content-encoding", "transfer-encoding"))
SERIES = re.compile(r"(# (TYPE|HELP) )?((vllm|sglang|llamacpp):|process_start_time_seconds|# EOF)")
_SERIES_LEFT_OUT = re.compile(r"^\S*(_bucket|_created|_info)\b")

OWN_WORDS = frozenset(
    ("formula", "unit", "name", "source", "definition", "method", "level", "state", "sample", "against",
     "kind", "channel", "ttft_channel", "count_source", "spread", "test", "probe", "claim", "counted_by",
     "marker", "not_sent", "reference", "because_of")
)  # fmt: skip
"""Keys of figures whose texts are Armgate's own, and never a model's."""


class Withholder:
    """Replaces what identifies a machine or a person: `known` strings, paths, addresses and host names."""

    def __init__(self, known: Iterable[str]) -> None:
        words = sorted({word for word in known if word}, key=len, reverse=True)
        pattern = "|".join(re.escape(word) for word in words)
        self._known = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.I) if words else None

    def text(self, text: str) -> str:
        """Of a path its last part stays, where that part is not itself a known name."""
        text = _URL_HOST.sub(WITHHELD, text)
        text = ABSOLUTE_PATH.sub(_last_part, text)
        text = _ADDRESS.sub(WITHHELD, text)
        return self._known.sub(WITHHELD, text) if self._known else text

    def value(self, value: Json) -> Json:
        """A nested value with its texts and keys cleaned."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(below) for key, below in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(below) for below in value]
        return value


def _last_part(match: re.Match[str]) -> str:
    return f"{WITHHELD}/{match[0].rstrip('/').rpartition('/')[2]}"


def published_plan(plan: Plan, hide: Withholder) -> Plan:
    """The plan with what says where things lay withheld; what was asked and promised stays."""
    body = plan.model_dump(mode="json", by_alias=True)
    for key in ("inputs", "pins"):
        body[key] = hide.value(body[key])
    arms = {name: _arm(arm, hide).model_dump(mode="json", by_alias=True) for name, arm in plan.arms.items()}
    return Plan.model_validate(body | {"arms": arms}, strict=False)


def _arm(arm: Arm, hide: Withholder) -> Arm:
    launcher = arm.launcher
    if isinstance(launcher, AttachLauncher):
        launcher = AttachLauncher(kind="attach", url="http://withheld.invalid")
    elif isinstance(launcher, ProcessLauncher):
        changes: dict[str, Json] = {
            "python": hide.text(launcher.python),
            "preload": tuple(map(hide.text, launcher.preload)),
            "env": _environment(launcher.env, hide),
        }
        launcher = launcher.model_copy(update=changes)
    else:
        changes = {
            "host": None,
            "address": None,
            "mounts": hide.value(launcher.mounts),
            "env": _environment(launcher.env, hide),
        }
        launcher = launcher.model_copy(update=changes)
    words = {
        "serve": hide.value(arm.serve),
        "storage": hide.value(arm.storage),
        "says": None if arm.says is None else hide.text(arm.says),
    }
    if arm.speculative is not None:
        options = {"options": hide.value(arm.speculative.options)}
        words["speculative"] = arm.speculative.model_copy(update=options)
    return arm.model_copy(update={"launcher": launcher, **words})


def _environment(variables: Mapping[str, str], hide: Withholder) -> dict[str, str]:
    return {
        name: hide.text(value)
        for name, value in variables.items()
        if ENVIRONMENT.fullmatch(name) and not names_a_credential(name)
    }


def published_boot(record: BootRecord, hide: Withholder) -> BootRecord:
    """A boot's record, field by field: what it was asked to be, turned out to be, and how long it took."""
    body = record.model_dump(mode="json")
    cleaned = {key: hide.value(value) for key, value in body.items()}
    cleaned["environment"] = _environment(record.environment, hide)
    cleaned["hardware"] = {key: cleaned["hardware"][key] for key in HARDWARE if key in record.hardware}
    return BootRecord.model_validate(cleaned, strict=False)


def published_counters(page: str, hide: Withholder) -> str:
    """The counters and gauges that verdicts can rest on; buckets of histograms and help texts are none."""
    kept = [
        line
        for line in page.splitlines(keepends=True)
        if SERIES.match(line) and not _SERIES_LEFT_OUT.match(line) and not line.startswith("# HELP")
    ]
    return "".join(hide.text(line) for line in kept)


def without_replies(verdict: Verdict) -> Verdict:
    """The verdict without anything that may quote a reply: outcomes, clauses, spans and figures stay."""
    quiet = verdict.outcome in (Outcome.PASSED, Outcome.SKIPPED)
    return verdict.model_copy(
        update={
            "message": verdict.message if quiet or verdict.message is None else WITH_REPLIES,
            "violations": tuple(map(_quiet, verdict.violations)),
            "samples": tuple(map(_sample, verdict.samples)),
            "findings": tuple(f.model_copy(update={"message": WITH_REPLIES}) for f in verdict.findings),
            "diagnostics": tuple(d.model_copy(update={"message": WITH_REPLIES}) for d in verdict.diagnostics),
            "measurements": figures_only(verdict.measurements),
        }
    )


def _sample(sample: SampleVerdict) -> SampleVerdict:
    changes = {"violations": tuple(map(_quiet, sample.violations)), "detail": figures_only(sample.detail)}
    return sample.model_copy(update=changes)


def _quiet(violation: Violation) -> Violation:
    return violation.model_copy(update={"message": WITH_REPLIES})


def figures_only(value: Json) -> Json:
    """Numbers, truth values, and the texts that stand under Armgate's own words."""
    if isinstance(value, Mapping):
        kept = {k: v for k, v in value.items() if not isinstance(v, str) or k in OWN_WORDS}
        return {key: figures_only(below) for key, below in kept.items()}
    if isinstance(value, list | tuple):
        return [figures_only(below) for below in value if not isinstance(below, str)]
    return value
