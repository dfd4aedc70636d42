"""The facts of finished runs."""

import pytest

from armgate.campaign.facts import run_facts
from armgate.reporting.facts import RunFacts
from armgate.reporting.run_folder import RunFolder


@pytest.fixture(scope="session")
def mixed_facts(mixed_run: RunFolder) -> RunFacts:
    return run_facts(mixed_run)


@pytest.fixture(scope="session")
def hostile_facts(hostile_run: RunFolder) -> RunFacts:
    return run_facts(hostile_run)
