"""What this program offers to a campaign: engines, checks, clauses; told to the loader, which knows none."""

from __future__ import annotations

from collections.abc import Sequence

from armgate.engines.registry import ENGINES
from armgate.judging.checks import CHECKS
from armgate.judging.examples import failing_examples
from armgate.judging.protocol import gate_problems
from armgate.loading.plan import Known
from armgate.model.contract import Contract
from armgate.model.gates import Gate


def known() -> Known:
    return Known(
        engines={name: engine.managed for name, engine in ENGINES.items()},
        families={name: check.family for name, check in CHECKS.items()},
        comparing=frozenset(name for name, check in CHECKS.items() if check.compares),
        gate_problems=_gate_problems,
        contract_problems=_contract_problems,
        attach_only=frozenset(name for name, engine in ENGINES.items() if engine.attach_only),
    )


def _gate_problems(gate: Gate) -> Sequence[tuple[str, str]]:
    return gate_problems(CHECKS[gate.check], gate)


def _contract_problems(contract: Contract) -> Sequence[str]:
    return [str(broken) for broken in failing_examples(contract)]
