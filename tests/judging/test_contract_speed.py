"""How fast answers are judged, and that no answer, however hostile, takes long."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from armgate.judging.clauses.registry import CLAUSES
from armgate.judging.contract import judge_contract, judge_text
from armgate.judging.subject import Subject
from armgate.loading.contracts import load_contract
from armgate.model.response import Response
from support.judged import contract_of
from support.workload import CLAUSES_WITHOUT_PARSER, HOSTILE, PROSE, answer_of_two_kilobytes

CONTRACTS = [
    load_contract(path) for path in sorted((Path(__file__).resolve().parents[2] / "contracts").glob("*.yaml"))
]


@pytest.mark.parametrize("name", HOSTILE)
def test_ten_megabytes_of_hostile_text_are_judged_in_two_seconds(name: str) -> None:
    answer = HOSTILE[name]()
    assert len(answer.encode("utf-8", "surrogatepass")) >= 10_000_000
    for contract in CONTRACTS:
        start_s = time.process_time()
        judge_text(contract, answer)
        assert time.process_time() - start_s < 2.0, contract.id


def test_patterns_are_linear_in_the_text() -> None:
    contract = contract_of({"regex": {"pattern": "(a+)+$", "match": "full"}})
    start_s = time.process_time()
    assert judge_contract(contract, Subject.of_text("a" * 10_000_000 + "!"))
    assert time.process_time() - start_s < 2.0


@pytest.mark.parametrize("clause", CLAUSES_WITHOUT_PARSER, ids=lambda clause: next(iter(clause)))
def test_clause_speed(clause: dict[str, Any], benchmark: BenchmarkFixture) -> None:
    declared = contract_of(clause).clauses[0]
    judge, options = CLAUSES[declared.name], declared.options
    response = Response(content=PROSE, finish_reason="stop")
    benchmark.extra_info["floor_per_s"] = 50_000
    benchmark(lambda: list(judge(options, Subject(response, cap_tokens=512))))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.id)
def test_contract_speed(contract: Any, benchmark: BenchmarkFixture) -> None:
    response = answer_of_two_kilobytes(contract)
    benchmark.extra_info["floor_per_s"] = 1_000
    benchmark(lambda: judge_contract(contract, Subject(response, cap_tokens=4096)))
