# ruff: noqa: RUF001 - the markers are written as the models write them
"""How model families mark thinking and turns in their text: data. A new family is one line here.

Seen in the chat templates and reasoning parsers of vLLM, SGLang and llama.cpp, or in visible content.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armgate.model.base import Frozen

Marker = Annotated[str, Field(min_length=2, max_length=200)]


class MarkerFamily(Frozen):
    """How one model family marks its thinking. Markers are literal texts, compared as written."""

    family: str
    open: tuple[Marker, ...] = ()
    close: tuple[Marker, ...] = ()
    signs: tuple[Marker, ...] = ()
    """Texts that neither open nor close a block and betray the channel all the same."""


def _tag(family: str, *names: str) -> MarkerFamily:
    """A family that writes `<name>...</name>`."""
    return MarkerFamily(
        family=family,
        open=tuple(f"<{name}>" for name in names),
        close=tuple(f"</{name}>" for name in names),
    )


REASONING_FAMILIES: tuple[MarkerFamily, ...] = (
    _tag("think", "think", "thinking", "thought", "thoughts", "Think", "THINK"),
    _tag("reasoning", "reasoning", "reflection", "scratchpad", "inner_monologue"),
    _tag("anthropic", "antThinking", "antml:thinking", "ant_thinking"),
    _tag("minimax", "mm:think"),
    _tag("seed", "seed:think", "seed:cot_budget_reflect"),
    _tag("longcat", "longcat_think"),
    MarkerFamily(
        family="harmony",
        signs=(
            "<|channel|>", "<|message|>", "<|start|>assistant", "assistantfinal", "assistantanalysis",
            "assistantcommentary",
        ),
    ),
    MarkerFamily(family="gemma", open=("<|channel>thought",), close=("<channel|>",), signs=("<|think|>",)),
    MarkerFamily(family="medgemma", open=("<unused94>",), close=("<unused95>",)),
    MarkerFamily(family="mistral", open=("[THINK]",), close=("[/THINK]",)),
    MarkerFamily(family="cohere", open=("<|START_THINKING|>",), close=("<|END_THINKING|>",),
                 signs=("<|START_RESPONSE|>", "<|END_RESPONSE|>")),
    MarkerFamily(family="kimi", open=("◁think▷",), close=("◁/think▷",)),
    MarkerFamily(family="open_thoughts", open=("<|begin_of_thought|>",), close=("<|end_of_thought|>",),
                 signs=("<|begin_of_solution|>", "<|end_of_solution|>")),
    MarkerFamily(family="phi", open=("<|dummy_86|>",), close=("<|dummy_87|>",)),
    MarkerFamily(family="granite", signs=("Here is my thought process:", "Here's my thought process:")),
    MarkerFamily(family="afm", open=("<think_start>",), close=("<think_end>",)),
    MarkerFamily(
        family="hermes", open=("<|thinking|>", "<|thought|>"), close=("<|/thinking|>", "<|/thought|>")
    ),
)  # fmt: skip

HARMONY_START = r"\A(?:analysis|commentary)(?:[A-Z]|[^\x00-\x7f])"
"""A channel word glued to the text that follows it: what is left where special tokens were dropped."""

SPECIAL_TOKENS: tuple[str, ...] = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>",
    "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|end|>", "<|return|>", "<|call|>",
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<unk>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]",
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|tool_call_begin|>", "<|tool_calls_section_begin|>",
    "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
    "[gMASK]", "<sop>", "[e~[", "<|turn>", "<turn|>",
)  # fmt: skip
"""Control tokens of chat formats: they belong to the template and never to an answer."""

TOOL_MARKUP: tuple[str, ...] = (
    "<tool_call>", "<function=", "<|tool_call_begin|>", "<|tool_calls_section_begin|>", "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜DSML｜", "<|tool_call>", "<|python_tag|>",
    "<minimax:tool_call>", "<invoke name=", "<|START_ACTION|>", "<longcat_tool_call>", "<seed:tool_call>",
    "<function_call>", "<|channel|>commentary to=functions", "<tool_calls>",
)  # fmt: skip
"""How families write a tool call into text; found there, the call was not read by the server's parser."""
