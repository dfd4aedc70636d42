"""Request bodies: everything that decides the answer is said, nothing that the engine refuses."""

from armgate.client.sampling import request_body
from armgate.model.arms import Arm, ProcessLauncher, Sampling
from armgate.model.gates import Gate, Probe

ARM = Arm(
    name="a",
    engine="vllm",
    launcher=ProcessLauncher(kind="process", python="p"),
    target="t",
    reference="a",
)
MESSAGES = [{"role": "user", "content": "hello"}]


def body(arm: Arm = ARM, refused: frozenset[str] = frozenset(), **probe: object) -> dict[str, object]:
    made = Probe.model_validate({"id": "p", "prompt": "hello", **probe})
    gate = Gate(id="g", check="contract", required=True, why="w", probes=(made,), body={"a": 1, "b": 1})
    return request_body(arm, gate, made, MESSAGES, "served", 8, refused)


def test_every_sampling_parameter_is_sent() -> None:
    sent = body()
    assert {name: sent[name] for name in Sampling.model_fields} == Sampling().model_dump()
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.0, 37, 8)


def test_what_the_engine_refuses_is_not_sent() -> None:
    assert "min_p" not in body(refused=frozenset({"min_p"}))


def test_a_probe_overrides_the_arm_and_its_keys_lie_over_the_gates() -> None:
    sent = body(sampling={"temperature": 0.5}, body={"b": 2})
    assert (sent["temperature"], sent["a"], sent["b"]) == (0.5, 1, 2)


def test_thinking_is_a_key_at_the_top_level() -> None:
    off = body(ARM.model_copy(update={"thinking": "off"}))
    assert off["chat_template_kwargs"] == {"enable_thinking": False}
    assert "chat_template_kwargs" not in body()


def test_usage_is_asked_of_streams_only() -> None:
    assert body()["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body(stream=False)
