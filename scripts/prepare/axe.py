"""axe-core, which finds what keeps a page from people: one file of the npm package, pinned by its digest."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

from prepare.machine import Needs
from prepare.places import Places
from prepare.step import Step

URL = "https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz"
INTEGRITY = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
"""SHA-512 of the package in base64, as npm's lock files give it."""
MEMBER = "package/axe.min.js"
SCRIPT_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
TIMEOUT_S = 60


def axe_script(places: Places) -> Path:
    return places.made / "axe" / "axe.min.js"


def axe_step(places: Places) -> Step:
    script = axe_script(places)
    return Step(
        title="axe-core: for the tests of the report's page",
        usually="a second",
        needs=Needs(places.made),
        is_done=lambda: script.is_file() and _sha256(script.read_bytes()) == SCRIPT_SHA256,
        do=lambda: _fetch(script),
    )


def _fetch(script: Path) -> None:
    """Where it cannot be had the tests that need it skip, or fail where they must not."""
    try:
        with urllib.request.urlopen(URL, timeout=TIMEOUT_S) as answer:
            package = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        print(f"       going on without axe-core: {error}", flush=True)
        return
    data = script_of(package)
    if data is None:
        print(f"       going on without axe-core: {URL} is not the package that is pinned", flush=True)
        return
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_bytes(data)


def script_of(package: bytes) -> bytes | None:
    """The script out of the package, or `None` where the package is another than the pinned one."""
    if base64.b64encode(hashlib.sha512(package).digest()).decode() != INTEGRITY:
        return None
    with tarfile.open(fileobj=io.BytesIO(package), mode="r:gz") as archive:
        member = archive.extractfile(MEMBER)
        return None if member is None else member.read()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
