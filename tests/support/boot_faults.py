"""What a server's start can do wrong, as options of the stand-in."""

from __future__ import annotations

import argparse
import sys
import time

from aiohttp import web

STARTED = time.monotonic()
NO_TEMPLATE = (
    "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat "
    "template if the tokenizer does not define one."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--load-s", type=float, default=0.0, help="seconds of loading")
    parser.add_argument("--load-grows", action="store_true", help="silent, but memory grows")
    parser.add_argument("--open-early", help="comma-separated paths that answer while the rest says 503")
    parser.add_argument("--die-with", help="the last line of the log")
    parser.add_argument("--die-silently", type=int, help="an exit code and no word")
    parser.add_argument("--warns", help="a line of the log of a start that goes on")
    parser.add_argument("--no-template", choices=("wrapped", "flat"))
    parser.add_argument("--reset-fails", action="store_true", help="HTTP 200, and false in the body")
    parser.add_argument("--root", default="stand-in")
    parser.add_argument("--slow-first", type=float, default=0.0, help="seconds that the first request pays")


def before_listening(options: argparse.Namespace) -> None:
    if options.warns:
        print(options.warns, flush=True)
    if options.load_s:
        print("Loading weights", flush=True)
    if not options.open_early:
        load(options)
    if options.die_silently is not None:
        sys.exit(options.die_silently)
    if options.die_with:
        print(options.die_with, flush=True)
        sys.exit(1)


def load(options: argparse.Namespace) -> None:
    held = []
    while time.monotonic() - STARTED < options.load_s:
        if options.load_grows:
            held.append(bytearray(b"x" * 2**22))
        time.sleep(0.1)


def still_loading(options: argparse.Namespace, path: str) -> web.Response | None:
    early = (options.open_early or "").split(",")
    if path in early or time.monotonic() - STARTED >= options.load_s:
        return None
    return web.json_response({"error": {"message": "Loading model", "code": 503}}, status=503)


def refused_chat(options: argparse.Namespace) -> web.Response | None:
    if options.slow_first:
        time.sleep(options.slow_first)
        options.slow_first = 0.0
    if options.no_template is None:
        return None
    error = {"message": NO_TEMPLATE, "type": "BadRequestError", "param": None, "code": 400}
    body = {"error": error} if options.no_template == "wrapped" else {"object": "error", **error}
    return web.json_response(body, status=400)
