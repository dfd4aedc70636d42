"""Every check by the name that ladders use. A new kind of check is one module and one line here."""

from __future__ import annotations

from armgate.judging.kinds.acceptance import AcceptanceCheck
from armgate.judging.kinds.code import CodeCheck
from armgate.judging.kinds.contract import ContractCheck
from armgate.judging.kinds.latency import Latency
from armgate.judging.kinds.losslessness import Losslessness
from armgate.judging.kinds.memory_floor import MemoryFloor
from armgate.judging.kinds.responds import Responds
from armgate.judging.kinds.retrieval import Retrieval
from armgate.judging.kinds.speed import Speed
from armgate.judging.kinds.sustained import Sustained
from armgate.judging.protocol import Check

CHECKS: dict[str, Check] = {
    "acceptance": AcceptanceCheck(),
    "code": CodeCheck(),
    "contract": ContractCheck(),
    "latency": Latency(),
    "losslessness": Losslessness(),
    "memory_floor": MemoryFloor(),
    "responds": Responds(),
    "retrieval": Retrieval(),
    "speed": Speed(),
    "sustained": Sustained(),
}
