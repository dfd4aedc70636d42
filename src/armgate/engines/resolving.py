"""Names that move, resolved once: a branch or tag of a hub repository to its commit."""

from __future__ import annotations

import importlib

from armgate.errors import InfrastructureError, UsageError


def hub_revision(repository: str, reference: str) -> str:
    """The commit that `reference` leads to now, asked of the hub.

    UsageError without the extra `pin` or where the hub knows no such repository or reference,
    InfrastructureError where the hub cannot be asked.
    """
    try:
        hub = importlib.import_module("huggingface_hub")
        errors = importlib.import_module("huggingface_hub.errors")
    except ImportError:
        raise UsageError("asking the hub needs the extra `pin`: pip install 'armgate[pin]'") from None
    try:
        found = hub.HfApi().model_info(repository, revision=reference, timeout=30.0).sha
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise UsageError(
            f"the hub has no {repository} at {reference!r}: {str(error).splitlines()[0]}"
        ) from None
    except (
        Exception
    ) as error:  # the hub's library lets those of its HTTP client through, which changed before
        raise InfrastructureError(
            f"the hub cannot be asked for {repository} at {reference!r} "
            f"({type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no word'}); "
            "offline, give the 40-hex commit yourself"
        ) from None
    return str(found)
