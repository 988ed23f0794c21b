"""General repairs of a function: each rule offers small changes to one piece of its syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from hermes_acp.agent.rules.report import Failure
from hermes_acp.agent.rules.source import Function, FunctionNode, Source, parsed
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of one piece of one file, and the suspicion behind it."""

    source: Source
    start: int
    end: int
    text: str
    reason: str

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def line(self) -> int:
        return self.source.line_of(self.start)

    def applied(self) -> str:
        """The whole text of the file with the change."""
        return self.source.text[: self.start] + self.text + self.source.text[self.end :]

    def is_valid(self) -> bool:
        """Whether it changes anything, and leaves the file valid Python."""
        is_change = self.source.text[self.start : self.end] != self.text
        return is_change and parsed(self.applied()) is not None


Rule = Callable[[Source, ast.AST, Failure], Iterator[Repair]]

_BOUNDS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_REVERSED = {ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<=", ast.Eq: "!=", ast.NotEq: "=="}
_NEGATED = {ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_LIKELY = {"+": "* -", "-": "+ *", "*": "+ / //", "/": "// *", "//": "% / *", "%": "// /"}
"""What is written for what, the likeliest first."""
_BY_SIZE = ["%", "//", "/", "-", "+", "*"]
"""The signs, roughly in the order of how large their results are."""
_OPPOSITES = ["min max", "any all", "ljust rjust", "lstrip rstrip", "startswith endswith", "upper lower"]
_OPPOSITE = {one: other for pair in map(str.split, _OPPOSITES) for one, other in (pair, pair[::-1])}


def bounds(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """`<` for `<=` and `>` for `>=`: whether the bound itself belongs to it."""
    return _comparisons(source, node, _BOUNDS, "the bound itself may be on the wrong side")


def directions(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """The comparison the other way round."""
    return _comparisons(source, node, {**_REVERSED, **_NEGATED}, "the comparison may be the wrong way round")


def operators(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """Another arithmetic operator."""
    if isinstance(node, ast.BinOp):
        between = source.span(node.left)[1], source.span(node.right)[0]
    elif isinstance(node, ast.AugAssign):
        between = source.span(node.target)[1], source.span(node.value)[0]
    else:
        return
    sign = _SIGNS.get(type(node.op))
    for other in _others(sign, failure) if sign else ():
        yield from _replaced(source, between, sign or "", other, f"`{sign}` may be the wrong operator")


def off_by_one(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """One more or one less in ranges, indexes and slices, and a `+ 1` or `- 1` too many anywhere."""
    reason = "this may be off by one"
    for place in _counted(node):
        if isinstance(place, ast.BinOp) and _is_one(place.right):
            continue
        if isinstance(place, ast.Constant) and type(place.value) is int:
            yield from (_to(source, place, str(place.value + step), reason) for step in (-1, 1))
        else:
            yield from (_to(source, place, f"{_operand(source, place)} {step}", reason) for step in ("+ 1", "- 1"))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and _is_one(node.right):
        yield _to(source, node, source.code(node.left), reason)
    if isinstance(node, ast.Slice):
        yield from (_to(source, bound, "", reason) for bound in (node.lower, node.upper) if bound)


def opposites(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """The function that does the opposite: min and max, any and all, ljust and rjust."""
    if isinstance(node, ast.Name) and node.id in _OPPOSITE:
        yield _to(source, node, _OPPOSITE[node.id], f"`{node.id}` may be the wrong one of two opposites")
    if isinstance(node, ast.Attribute) and node.attr in _OPPOSITE:
        text = f"{source.code(node.value)}.{_OPPOSITE[node.attr]}"
        yield _to(source, node, text, f"`{node.attr}` may be the wrong one of two opposites")


def conditions(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """`and` for `or`, a `not` too many, True for False."""
    if isinstance(node, ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            between = source.span(left)[1], source.span(right)[0]
            yield from _replaced(source, between, word, other, f"`{word}` may have to be `{other}`")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _to(source, node, source.code(node.operand), "the `not` may be too many")
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _to(source, node, str(not node.value), f"`{node.value}` may be the wrong way round")


def returns(source: Source, node: ast.AST, failure: Failure) -> Iterator[Repair]:
    """The result is computed and not returned, or returned from inside the loop that computes it."""
    if isinstance(node, FunctionNode) and "None" in failure.message and not _gives_a_value(node):
        yield from _missing_return(source, node)
    if isinstance(node, ast.For | ast.While) and isinstance(node.body[-1], ast.Return):
        last = node.body[-1]
        start, end = source.span(last)
        line_start = source.line_span(last.lineno)[0]
        text = " " * node.col_offset + source.text[start:end]
        yield Repair(source, line_start, end, text, "the loop may end too early: `return` stands inside it")


RULES: Mapping[str, Rule] = {
    "returns": returns,
    "bounds": bounds,
    "off_by_one": off_by_one,
    "operators": operators,
    "opposites": opposites,
    "directions": directions,
    "conditions": conditions,
}


def repairs(suspects: Sequence[Function], failure: Failure) -> Iterator[Repair]:
    """Every change that some rule offers for the suspects, none twice.

    The rules that the failure speaks for come first. Each piece of syntax gets its first change tried before
    any gets its second, in the order of the suspects.
    """
    favoured = _favoured(failure)
    others = [name for name in RULES if name not in favoured]
    seen: set[tuple[str, str]] = set()
    for repair in chain(_offers(suspects, favoured, failure), _offers(suspects, others, failure)):
        key = (repair.path, repair.applied())
        if key not in seen and repair.is_valid():
            seen.add(key)
            yield repair


def _offers(suspects: Sequence[Function], rules: Sequence[str], failure: Failure) -> Iterator[Repair]:
    offers: list[list[Repair]] = []
    for function in suspects:
        nodes = sorted(_executed(function.node), key=_position)
        offers += [list(RULES[name](function.source, node, failure)) for name in rules for node in nodes]
    for tier in zip_longest(*offers):
        yield from (repair for repair in tier if repair is not None)


def _executed(function: FunctionNode) -> Iterator[ast.AST]:
    """The function and the nodes of its body, annotations left out."""
    annotations = [node.annotation for node in ast.walk(function) if isinstance(node, ast.AnnAssign)]
    left_out = {id(node) for annotation in annotations for node in ast.walk(annotation)}
    yield function
    for statement in function.body:
        yield from (node for node in ast.walk(statement) if id(node) not in left_out)


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _favoured(failure: Failure) -> list[str]:
    """The names of the rules that the failure speaks for."""
    values = failure.values()
    if "None" in failure.message:
        return ["returns"]
    if failure.error == "IndexError" or (values and _is_one_apart(*values)):
        return ["off_by_one"]
    return []


def _is_one_apart(got: object, expected: object) -> bool:
    if isinstance(got, list | tuple | str) and isinstance(expected, list | tuple | str):
        return abs(len(got) - len(expected)) == 1
    return type(got) is int and type(expected) is int and abs(got - expected) == 1


def _others(sign: str, failure: Failure) -> list[str]:
    """The signs to try, those first that change the result to the side it should have gone."""
    likely = _LIKELY[sign].split()
    match failure.values():
        case (int() | float() as got, int() | float() as expected):
            size = _BY_SIZE.index(sign)
            likely.sort(key=lambda other: (_BY_SIZE.index(other) > size) != (got < expected))
    return likely


def _comparisons(source: Source, node: ast.AST, signs: Mapping[type[ast.cmpop], str], reason: str) -> Iterator[Repair]:
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for operator, left, right in zip(node.ops, operands, node.comparators, strict=False):
        if type(operator) in signs:
            between = source.span(left)[1], source.span(right)[0]
            yield from _replaced(source, between, r"[<>=!]+|not\s+in|in|is\s+not|is", signs[type(operator)], reason)


def _replaced(source: Source, between: tuple[int, int], word: str, other: str, reason: str) -> Iterator[Repair]:
    """The operator between two operands, replaced; `word` is itself or a pattern of it."""
    pattern = word if word.startswith("[") else re.escape(word)
    found = re.compile(pattern).search(source.text, *between)
    if found:
        yield Repair(source, found.start(), found.end(), other, reason)


def _counted(node: ast.AST) -> list[ast.expr]:
    """The places of a node that count: the bounds of a range or a slice, an index."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        return node.args[:2][::-1]
    if isinstance(node, ast.Slice):
        return [bound for bound in (node.lower, node.upper) if bound is not None]
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        is_text = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        return [] if is_text else [node.slice]
    return []


def _operand(source: Source, node: ast.expr) -> str:
    is_simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return source.code(node) if is_simple else f"({source.code(node)})"


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def _to(source: Source, node: ast.expr | ast.stmt, text: str, reason: str) -> Repair:
    return Repair(source, *source.span(node), text, reason)


def _gives_a_value(function: FunctionNode) -> bool:
    gives = (ast.Yield, ast.YieldFrom)
    inner = list(ast.walk(function))
    return any(isinstance(node, gives) or (isinstance(node, ast.Return) and node.value is not None) for node in inner)


def _missing_return(source: Source, function: FunctionNode) -> Iterator[Repair]:
    reason = "the function computes something and returns nothing"
    last = function.body[-1]
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        start = source.span(last)[0]
        yield Repair(source, start, start, "return ", reason)
    end = source.span(last)[1]
    for name in _assigned(function):
        yield Repair(source, end, end, f"\n{' ' * last.col_offset}return {name}", reason)


def _assigned(function: FunctionNode) -> list[str]:
    """The names that the function's own statements give a value, the last one first."""
    targets = [node.targets[0] for node in function.body if isinstance(node, ast.Assign)]
    targets += [node.target for node in function.body if isinstance(node, ast.AnnAssign | ast.AugAssign)]
    return [target.id for target in reversed(targets) if isinstance(target, ast.Name)]
