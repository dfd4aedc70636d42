"""The table of a published experiment: one row for each request of each variant, counters, what it failed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from armgate.errors import DeclarationError, Problem
from armgate.loading.published import COMPARISON
from armgate.model.base import Json
from armgate.model.published import PublishedRow, PublishedTable, PublishedVariant

REFERENCE_DEPTH = 0


def is_published(folder: Path) -> bool:
    """Whether the folder holds a published table of variants and no run of ours."""
    return (folder / COMPARISON).is_file() and not (folder / "plan.json").exists()


def load_published_table(folder: Path) -> PublishedTable:
    """The variants as published; DeclarationError names the file and what does not hold."""
    file = folder / COMPARISON
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
        variants = tuple(_variant(entry) for entry in entries)
        reference = next(one.name for one in variants if one.depth == REFERENCE_DEPTH)
    except StopIteration:
        problem = Problem(file, None, None, "", "no variant with speculative_tokens 0 to compare with")
        raise DeclarationError([problem]) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        what = f"no table of published variants: {type(error).__name__}: {error}"
        raise DeclarationError([Problem(file, None, None, "", what)]) from None
    return PublishedTable(reference=reference, variants=variants)


def _variant(entry: Mapping[str, Json]) -> PublishedVariant:
    counters = entry["speculative_counters"] or None
    return PublishedVariant(
        name=entry["variant"],
        depth=entry["speculative_tokens"],
        qualified=entry["quality_passed"] and not entry["strict_failures"],
        reasons=tuple(_reason(failure) for failure in entry["strict_failures"]),
        rows=tuple(_row(row) for row in entry["rows"]),
        drafts=counters and int(counters["num_drafts"]),
        draft_tokens=counters and int(counters["num_draft_tokens"]),
        accepted_tokens=counters and int(counters["num_accepted_tokens"]),
        published_median=entry["median_decode_est_tps"],
    )


def _reason(failure: Mapping[str, Json]) -> str:
    return f"{failure['probe']}: {failure.get('requirement') or failure.get('error')}"


def _row(row: Mapping[str, Json]) -> PublishedRow:
    """Labels are `speed-<kind>-<run>`: the runs of a kind are one prompt sent again."""
    prompt = row["label"].rpartition("-")[0]
    return PublishedRow(
        label=row["label"],
        prompt=prompt,
        kind=prompt.removeprefix("speed-"),
        completion_tokens=row["usage"]["completion_tokens"],
        ttft_s=row["ttft_s"],
        wall_s=row["wall_s"],
        published_tok_s=row["decode_est_tps"],
    )
