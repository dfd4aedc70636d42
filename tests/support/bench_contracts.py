"""Prints how many answers a core judges in a second, and the ratio to what is promised."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from armgate.judging.clauses.registry import CLAUSES
from armgate.judging.contract import judge_contract
from armgate.judging.subject import Subject
from armgate.loading.contracts import load_contract
from armgate.model.response import Response
from support.judged import contract_of
from support.workload import CLAUSES_WITHOUT_PARSER, PROSE, answer_of_two_kilobytes

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"
CLAUSE_FLOOR = 50_000
CONTRACT_FLOOR = 1_000
PARSING = {"json", "python", "csv", "plain_text", "one_fence", "language"}


def rate(judge: Callable[[], object], seconds: float) -> float:
    """Calls per second: the best of five stretches of the process's own time."""
    best = 0.0
    for _ in range(5):
        calls, start_s = 0, time.process_time()
        while time.process_time() - start_s < seconds / 5:
            for _ in range(20):
                judge()
            calls += 20
        best = max(best, calls / (time.process_time() - start_s))
    return best


def _show(name: str, per_second: float, floor: int, note: str = "") -> None:
    print(f"{name:<34}{per_second:>12,.0f}/s{per_second / floor:>9.1f}x  {note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.2, help="time spent on each line")
    seconds: float = parser.parse_args().seconds
    print(f"clauses that need no parser, {len(PROSE)} bytes (floor {CLAUSE_FLOOR:,}/s)")
    response = Response(content=PROSE, finish_reason="stop")
    for declared in CLAUSES_WITHOUT_PARSER:
        clause = contract_of(declared).clauses[0]
        judge, options = CLAUSES[clause.name], clause.options
        options_shown = ", ".join(clause.tolerances)
        per_second = rate(lambda j=judge, o=options: list(j(o, Subject(response, cap_tokens=512))), seconds)
        _show(clause.name, per_second, CLAUSE_FLOOR, options_shown)
    print(f"\nshipped contracts whole, each parse shared between clauses (floor {CONTRACT_FLOOR:,}/s)")
    for path in sorted(CONTRACTS.glob("*.yaml")):
        contract = load_contract(path)
        answer = answer_of_two_kilobytes(contract)
        per_second = rate(
            lambda c=contract, a=answer: judge_contract(c, Subject(a, cap_tokens=4096)), seconds
        )
        parsing = ", ".join(sorted({clause.name for clause in contract.clauses} & PARSING))
        size = len((answer.content or "").encode())
        _show(
            contract.id,
            per_second,
            CONTRACT_FLOOR,
            f"{size} bytes" + (f"; parses: {parsing}" if parsing else ""),
        )


if __name__ == "__main__":
    main()
