"""A stand-in for an engine: an OpenAI-compatible server whose replies and faults a test declares.

Run as `python stand_in_engine.py --port N --model-id ID [--depth D] [--replies FILE] [--max-model-len N]`.
FILE is a JSON list of `{"match": substring of the last message, "text": reply, "fault": name or null}`; the
first match wins, and without one the reply is the message itself. One word is one token.
Like vLLM it counts a request a moment after it has answered it. With `--caching` it reports as cached what a
prompt has in common with the longest beginning of an earlier one; with `--request-metrics` it tells its
speculation and its times in the usage chunk. A reply may have `gaps`, for replays: word -> how much less
likely, in nats, than another token the server holds it.
Faults of a reply: `die` (the process ends), `drop` (the connection ends after the first delta), `length`
(finish reason `length`), `slow` (0.2 s a delta), `bytes` (surrogates of the text are sent as the bytes that
they escape, so that the stream is not UTF-8), `restart` (its counters begin anew after this answer),
`preempt` (it counts a preemption), `reasoning` (all of it in the reasoning channel), `busy` (the first two
requests are answered with 503).
Instead of a text a reply may have `find`, a regular expression: it answers with all that the message holds of
it, as a JSON array, or with `form: text` as words.

A reply may also say how the server treats its prompt: `served` are the tokens that it takes, `over` what it
does beyond them (cut silently, or a refusal in some engine's words), `stream_cap` ends the stream early and
calls it a stop, `usage: false` reports none, and `from_request: N` holds from the N-th request on.
`--tokenize` is the wire form of the server's token counts, `--count-factor` makes its usage another
tokenizer's, `--told-len` is the context that it says it has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import web

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import boot_faults

TEMPLATE_TOKENS = 5
COUNTED_AFTER_S = 0.1


def tokens_of(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def shared(one: list[str], other: list[str]) -> int:
    """How many words two prompts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def template(messages: list[dict[str, Any]]) -> str:
    """The prompt of a chat: five words around each message, as the pinned template of the tests has it."""
    return "".join(f"a b c d {message['content']} e" for message in messages)


REFUSALS = {
    "vllm": (
        400,
        "This model's maximum context length is {limit} tokens. However, your prompt contains {tokens} input "
        "tokens, which exceeds this limit even without any output tokens.",
    ),
    "sglang": (
        400,
        "The input ({tokens} tokens) is longer than the model's context length ({limit} tokens).",
    ),
    "llama": (500, "the request exceeds the available context size, try increasing it"),
    "tgi": (
        422,
        "Input validation error: `inputs` must have less than {limit} tokens. Given: {tokens}",
    ),
    "ollama": (400, "prompt is too long for the context window of {limit}"),
    "tensorrt": (400, "Prompt length ({tokens}) exceeds maximum input length ({limit})"),
    "tabby": (400, "Prompt length {tokens} is greater than max_seq_len {limit}"),
    "in-stream": (200, "Requested tokens ({tokens}) exceed context window of {limit}"),
}


def token_id(token: str) -> int:
    return zlib.crc32(token.encode()) % 50_000


class StandIn:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.replies: list[dict[str, Any]] = (
            json.loads(Path(options.replies).read_text()) if options.replies else []
        )
        self.counts: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.started = 1_700_000_000
        self.seen: list[list[str]] = []

    def reply(self, message: str) -> dict[str, Any]:
        due = (r for r in self.replies if r.get("from_request", 0) <= self.counts["requests"])
        found = next((r for r in due if r["match"] in message), {"match": "", "text": message})
        if "find" not in found:
            return found
        hits = re.findall(found["find"], message)
        text = " ".join(hits) if found.get("form") == "text" else json.dumps(hits)
        return {**found, "text": text}

    def prompt_tokens(self, messages: list[dict[str, Any]]) -> int:
        return len(tokens_of(template(messages)))

    def served_tokens(self, messages: list[dict[str, Any]]) -> int:
        """What usage reports of a whole prompt, by a tokenizer of its own."""
        return round(self.prompt_tokens(messages) * self.options.count_factor)

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Everything asks for the key, where there is one, and for patience, where something loads."""
        loading = boot_faults.still_loading(self.options, request.path)
        if loading is not None:
            return loading
        wanted = self.options.api_key
        if wanted and request.headers.get("Authorization") != f"Bearer {wanted}":
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def health(self, request: web.Request) -> web.Response:
        return web.Response()

    async def models(self, request: web.Request) -> web.Response:
        told = self.options.told_len or self.options.max_model_len
        entry = {"id": self.options.model_id, "max_model_len": told, "root": self.options.root}
        return web.json_response({"object": "list", "data": [entry]})

    async def reset(self, request: web.Request) -> web.Response:
        return web.json_response({"success": not self.options.reset_fails})

    async def version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "stand-in 1"})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        form = self.options.tokenize
        if form == "llama":
            tokens = tokens_of(body.get("content", ""))
            return web.json_response({"tokens": [token_id(token) for token in tokens]})
        if form == "none" or (form == "sglang" and "prompt" not in body):
            return web.json_response({"error": "no such field"}, status=404 if form == "none" else 400)
        text = template(body["messages"]) if form == "vllm" else body["prompt"]
        return web.json_response({"count": len(tokens_of(text)), "max_model_len": self.options.max_model_len})

    async def apply_template(self, request: web.Request) -> web.Response:
        if self.options.tokenize != "llama":
            return web.json_response({"error": "not found"}, status=404)
        return web.json_response({"prompt": template((await request.json())["messages"])})

    async def refused(
        self, request: web.Request, wording: str, tokens: int, limit: int
    ) -> web.StreamResponse:
        status, words = REFUSALS[wording]
        error = {"message": words.format(tokens=tokens, limit=limit), "type": "invalid_request_error"}
        if wording == "llama":
            error |= {"type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": limit}
        if status != 200:
            return web.json_response({"error": error}, status=status)
        text = "data: " + json.dumps({"error": error}) + "\n\ndata: [DONE]\n\n"
        return web.Response(text=text, content_type="text/event-stream")

    async def metrics(self, request: web.Request) -> web.Response:
        names = ["vllm:prompt_tokens_total", "vllm:generation_tokens_total"]
        if self.options.depth:
            names += [
                f"vllm:spec_decode_num_{n}_total" for n in ("drafts", "draft_tokens", "accepted_tokens")
            ]
        lines = [f'# TYPE {name} counter\n{name}{{engine="0"}} {self.counts[name]}' for name in names]
        done = 'vllm:request_success_total{engine="0",finished_reason="stop"}'
        lines.append(f"# TYPE vllm:request_success_total counter\n{done} {self.counts['requests']}")
        lines.append(f"vllm:num_requests_running {self.counts['running']}\nvllm:num_requests_waiting 0")
        lines.append(f"vllm:num_preemptions_total {self.counts['preemptions']}")
        lines.append(f"vllm:request_queue_time_seconds_sum {self.counts['requests'] * 0.25}")
        lines.append(f"process_start_time_seconds {self.started}")
        return web.Response(text="\n".join(lines) + "\n")

    async def completions(self, request: web.Request) -> web.Response:
        """Log probabilities of a prompt of token ids. A reply's `gaps` says by word how much less likely than
        another token the server holds it; every other word is the most likely one."""
        body = await request.json()
        gaps = {token_id(word): gap for reply in self.replies for word, gap in reply.get("gaps", {}).items()}
        listed: list[dict[str, Any] | None] = [None]
        for token in body["prompt"][1:]:
            own = {"logprob": -0.5 - gaps.get(token, 0.0), "rank": 2 if token in gaps else 1}
            best = {"99999": {"logprob": -0.5, "rank": 1, "decoded_token": "?"}} if token in gaps else {}
            listed.append({str(token): {**own, "decoded_token": f"<{token}>"}, **best})
        choice = {"index": 0, "text": "", "finish_reason": "length", "prompt_logprobs": listed}
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": 1}
        return web.json_response({"object": "text_completion", "choices": [choice], "usage": usage})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        reply = self.reply(str(body["messages"][-1]["content"]))
        fault = reply.get("fault")
        if fault == "die":
            os._exit(3)
        self.asked[reply["match"]] += 1
        if fault == "busy" and self.asked[reply["match"]] <= 2:
            return web.json_response({"error": {"message": "overloaded", "code": 503}}, status=503)
        refused = boot_faults.refused_chat(self.options)
        if refused is not None:
            return refused
        prompt = self.prompt_tokens(body["messages"])
        limit = reply.get("served", self.options.max_model_len)
        if prompt > limit and "over" in reply:
            return await self.refused(request, reply["over"], prompt, limit)
        cap = min(body["max_tokens"], reply.get("stream_cap", body["max_tokens"]))
        words = tokens_of(reply["text"])[:cap]
        cached = self.cached(body["messages"])
        self.count(body, len(words), fault, limit)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if body.get("return_token_ids"):
            asked = " ".join(str(message["content"]) for message in body["messages"])
            ids = [token_id(word) for word in tokens_of(asked)]
            first = {"index": 0, "delta": {"role": "assistant"}}
            await response.write(self.event([first], prompt_token_ids=ids))
        for word in words:
            channel = "reasoning" if fault == "reasoning" else "content"
            choice = {"index": 0, "delta": {channel: word}, "finish_reason": None}
            if body.get("return_token_ids"):
                choice["token_ids"] = [token_id(word)]
            await response.write(self.event([choice], raw=fault == "bytes"))
            if fault == "drop":
                assert request.transport is not None
                request.transport.abort()
                self.counts["running"] -= 1
                return response
            await asyncio.sleep(0.2 if fault == "slow" else 0)
        cut = fault == "length" or (len(tokens_of(reply["text"])) > len(words) and "stream_cap" not in reply)
        reason = "length" if cut else "stop"
        await response.write(self.event([{"index": 0, "delta": {}, "finish_reason": reason}]))
        usage = self.usage(body["messages"], len(words), limit, cached) if reply.get("usage", True) else None
        metrics = self.request_metrics(len(words)) if self.options.request_metrics else None
        told = self.event([], usage, metrics=metrics) if usage is not None else b""
        await response.write(told + b"data: [DONE]\n\n")
        asyncio.get_running_loop().call_later(COUNTED_AFTER_S, self.finished, fault)
        return response

    def usage(self, messages: list[dict[str, Any]], words: int, limit: int, cached: int) -> dict[str, Any]:
        prompt = min(self.served_tokens(messages), limit)
        told: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": words}
        told["total_tokens"] = prompt + words
        if self.options.caching:
            told["prompt_tokens_details"] = {"cached_tokens": cached}
        return told

    def finished(self, fault: str | None) -> None:
        self.counts["running"] -= 1
        self.counts["requests"] += 1
        if fault == "restart":
            self.counts.clear()
            self.started += 60

    def cached(self, messages: list[dict[str, Any]]) -> int:
        prompt = [word for message in messages for word in tokens_of(str(message["content"]))]
        common = [shared(prompt, earlier) for earlier in self.seen]
        self.seen.append(prompt)
        return TEMPLATE_TOKENS + max(common) if common else 0

    def request_metrics(self, words: int) -> dict[str, Any]:
        """As vLLM tells them: every step accepts one of `depth` draft tokens."""
        told: dict[str, Any] = {"time_to_first_token_ms": 1.0, "queue_time_ms": 0.5}
        if self.options.depth:
            told["speculative_decoding"] = {
                "num_spec_steps": words,
                "num_draft_tokens": words * self.options.depth,
                "num_accepted_draft_tokens": words,
                "acceptance_histogram": [0, words, *[0] * (self.options.depth - 1)],
            }
        return told

    def count(self, body: dict[str, Any], words: int, fault: str | None, limit: int) -> None:
        self.counts["running"] += 1
        self.counts["preemptions"] += fault == "preempt"
        self.counts["vllm:prompt_tokens_total"] += min(self.served_tokens(body["messages"]), limit)
        self.counts["vllm:generation_tokens_total"] += words
        if self.options.depth and not self.options.silent_draft:
            self.counts["vllm:spec_decode_num_drafts_total"] += words
            self.counts["vllm:spec_decode_num_draft_tokens_total"] += words * self.options.depth
            self.counts["vllm:spec_decode_num_accepted_tokens_total"] += words

    def event(
        self,
        choices: list[dict[str, Any]],
        usage: dict[str, Any] | None = None,
        raw: bool = False,
        metrics: dict[str, Any] | None = None,
        **more: Any,
    ) -> bytes:
        body: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "choices": choices}
        body |= {"model": self.options.model_id, **more}
        if usage is not None:
            body["usage"] = usage
        if metrics is not None:
            body["metrics"] = metrics
        text = json.dumps(body, ensure_ascii=not raw)
        return b"data: " + text.encode(errors="surrogateescape") + b"\n\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--replies")
    parser.add_argument("--max-model-len", type=int, default=4096)
    parser.add_argument("--api-key")
    parser.add_argument("--silent-draft", action="store_true")
    parser.add_argument("--die-at-start", action="store_true")
    parser.add_argument("--caching", action="store_true")
    parser.add_argument("--request-metrics", action="store_true")
    parser.add_argument("--tokenize", choices=["vllm", "sglang", "llama", "none"], default="vllm")
    parser.add_argument("--told-len", type=int)
    parser.add_argument("--count-factor", type=float, default=1.0)
    boot_faults.add_options(parser)
    options = parser.parse_args()
    boot_faults.before_listening(options)
    if options.die_at_start:
        raise SystemExit("RuntimeError: this server was told to fail")
    server = StandIn(options)
    app = web.Application(middlewares=[server.guard])
    app.add_routes(
        [
            web.get("/health", server.health),
            web.get("/v1/models", server.models),
            web.get("/version", server.version),
            web.post("/reset_prefix_cache", server.reset),
            web.get("/metrics", server.metrics),
            web.post("/tokenize", server.tokenize),
            web.post("/apply-template", server.apply_template),
            web.post("/v1/chat/completions", server.chat),
            web.post("/v1/completions", server.completions),
        ]
    )
    web.run_app(app, host="127.0.0.1", port=options.port, print=None)


if __name__ == "__main__":
    main()
