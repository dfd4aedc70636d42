"""Whether a run's folder is a published copy, and what follows for whoever reads it."""

from __future__ import annotations

from armgate.errors import RecordError
from armgate.model.publication import Publication
from armgate.reporting.run_folder import RunFolder


def read_publication(run: RunFolder) -> Publication | None:
    """The copy's own record; `None` for a run as it was made."""
    if not run.publication.exists():
        return None
    try:
        return Publication.model_validate_json(run.publication.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"{run.publication} cannot be read: {error}") from None


def is_judgeable(run: RunFolder) -> bool:
    publication = read_publication(run)
    return publication is None or publication.re_judgeable


def refuse_unjudgeable(run: RunFolder) -> None:
    """A copy without replies proves no verdict, and must not seem to."""
    if not is_judgeable(run):
        raise RecordError(f"{run.root} is not re-judgeable: it was published without its replies")


def notices(run: RunFolder) -> tuple[str, ...]:
    """What the page of a published copy says first."""
    publication = read_publication(run)
    if publication is None:
        return ()
    if publication.re_judgeable:
        return ("This is a published copy: host names, paths and addresses are withheld.",)
    return (
        "This is a published copy without its replies. It is not re-judgeable: no verdict can be reached "
        "again from it.",
    )
