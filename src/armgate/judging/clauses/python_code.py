"""The clause about Python source: it parses, defines what was asked, and does nothing at import."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from armgate.judging.clauses.breach import Breach, at
from armgate.judging.python_source import Definition, Function, read_python
from armgate.judging.text import Text
from armgate.model.clauses.structured import Python, signature_of


def python(options: Python, text: Text) -> Iterator[Breach]:
    if not text.value.strip():
        yield Breach("empty", "no source at all", text.all, text.channel)
        return
    read = text.python
    if read.flaw is not None:
        yield at(text, read.flaw.kind, read.flaw.message, read.flaw.start, read.flaw.end)
        yield from _not_code(text)
        return
    yield from _definitions(options, text)
    yield from _imports(options, text)
    yield from _top_level(options, text)
    for function in _functions(options, text):
        yield from _documented(options, function, text)
    if options.comments == "required" and not read.comments:
        yield Breach("no_comment", "there is no comment", text.all, text.channel)
    if options.comments == "forbidden":
        for start, end in read.comments:
            yield Breach("comment", "a comment", text.byte_span(start, end), text.channel)


def _not_code(text: Text) -> Iterator[Breach]:
    """Where fences show which part was meant as code: the text around it that is none."""
    if text.fences.too_large:
        return
    edges = [0, *(edge for block in text.fences.blocks for edge in block.outer), len(text.value)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        piece = text.value[start:end]
        if text.fences.blocks and piece.strip() and read_python(piece).tree is None:
            shown = piece.strip()
            says = repr(shown if len(shown) <= 60 else shown[:57] + "...")
            yield at(text, "prose", f"text that is no source at {text.place(start)}: {says}", start, end)


def _definitions(options: Python, text: Text) -> Iterator[Breach]:
    found = text.python.definitions
    for wanted in options.definitions:
        signature = signature_of(wanted)
        name = wanted if signature is None else signature.name
        node = found.get(name)
        if node is None:
            others = ", ".join(found) or "nothing"
            yield Breach(
                "not_defined", f"{name} is not defined at top level; {others} is", text.all, text.channel
            )
        elif signature is not None:
            yield from _signature(signature, node, text)


def _signature(wanted: ast.FunctionDef, node: Definition, text: Text) -> Iterator[Breach]:
    span = text.byte_span(*text.python.byte_span(node))
    if isinstance(node, ast.ClassDef):
        yield Breach("signature", f"{node.name} is a class, expected a function", span, text.channel)
        return
    expected, given = _parameters(wanted), _parameters(node)
    if [one[:2] for one in expected] != [one[:2] for one in given]:
        message = f"{node.name}({_listed(given)}), expected {node.name}({_listed(expected)})"
        yield Breach("signature", message, span, text.channel)
        return
    for (name, _, annotation, default), (_, _, has_annotation, has_default) in zip(
        expected, given, strict=True
    ):
        for what, one, other in (
            ("annotation", annotation, has_annotation),
            ("default", default, has_default),
        ):
            if one is not None and one != other:
                message = f"{what} of {name} is {other or 'missing'}, expected {one}"
                yield Breach("signature", message, span, text.channel)
    if wanted.returns is not None and _written(wanted.returns) != _written(node.returns):
        message = f"returns {_written(node.returns) or 'unannotated'}, expected {_written(wanted.returns)}"
        yield Breach("signature", message, span, text.channel)


Parameter = tuple[str, str, str | None, str | None]
"""Name, kind, annotation, default."""


def _parameters(node: Function) -> list[Parameter]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    kinds = ["/"] * len(arguments.posonlyargs) + [""] * len(arguments.args)
    out = [
        (argument.arg, kind, _written(argument.annotation), _written(default))
        for argument, kind, default in zip(positional, kinds, defaults, strict=True)
    ]
    if arguments.vararg:
        out.append((arguments.vararg.arg, "*", _written(arguments.vararg.annotation), None))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        out.append((argument.arg, "keyword", _written(argument.annotation), _written(default)))
    if arguments.kwarg:
        out.append((arguments.kwarg.arg, "**", _written(arguments.kwarg.annotation), None))
    return out


def _listed(parameters: list[Parameter]) -> str:
    marks = {"*": "*", "**": "**"}
    return ", ".join(marks.get(kind, "") + name for name, kind, _, _ in parameters)


def _written(node: ast.expr | None) -> str | None:
    """An expression in one spelling; a forward reference in quotes counts as what it says."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    try:
        return ast.unparse(node)
    except RecursionError:
        return "(too deep to compare)"


def _imports(options: Python, text: Text) -> Iterator[Breach]:
    if options.imports == "any":
        return
    allowed = () if options.imports == "none" else options.imports
    for node, modules in text.python.imports():
        for module in modules:
            if not any(module == one or module.startswith(f"{one}.") for one in allowed):
                span = text.byte_span(*text.python.byte_span(node))
                yield Breach("import", f"imports {module} at line {node.lineno}", span, text.channel)


def _top_level(options: Python, text: Text) -> Iterator[Breach]:
    if options.top_level == "any" or text.python.tree is None:
        return
    constants = options.top_level == "definitions_and_constants"
    for index, node in enumerate(text.python.tree.body):
        if not (_defines(node) or (index == 0 and _is_docstring(node)) or (constants and _is_constant(node))):
            span = text.byte_span(*text.python.byte_span(node))
            what = type(node).__name__
            yield Breach(
                "top_level", f"a top-level statement at line {node.lineno} ({what})", span, text.channel
            )


def _defines(node: ast.stmt) -> bool:
    return isinstance(node, Definition | ast.Import | ast.ImportFrom)


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_constant(node: ast.stmt) -> bool:
    """An assignment of literals, which runs nothing."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    calm = (
        ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load,
        ast.Name, ast.Store,
    )  # fmt: skip
    return node.value is None or all(isinstance(below, calm) for below in ast.walk(node.value))


def _functions(options: Python, text: Text) -> list[Function]:
    found = text.python.definitions
    if options.definitions:
        signatures = ((one, signature_of(one)) for one in options.definitions)
        named = [found.get(one if signature is None else signature.name) for one, signature in signatures]
        return [node for node in named if isinstance(node, Function)]
    return [node for node in found.values() if isinstance(node, Function)]


def _documented(options: Python, node: Function, text: Text) -> Iterator[Breach]:
    span = text.byte_span(*text.python.byte_span(node))
    if options.docstring == "required" and not (ast.get_docstring(node) or "").strip():
        yield Breach("no_docstring", f"{node.name} has no docstring", span, text.channel)
    if options.type_hints == "required":
        missing = [name for name, _, annotation, _ in _parameters(node) if annotation is None]
        missing = [name for name in missing if name not in ("self", "cls")]
        if node.returns is None:
            missing.append("its result")
        if missing:
            message = f"{node.name} has no type hint for {', '.join(missing)}"
            yield Breach("no_type_hint", message, span, text.channel)
