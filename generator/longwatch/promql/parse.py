"""The door to promql_parser: is it PromQL, of which type, and which labels can its result carry. A leaf.

The parser follows Prometheus 2.45 and knows newer functions. It is loaded on first use: most policies hold no PromQL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

import msgspec

ResultType = Literal["vector", "scalar", "range", "string"]

_LONGEST = 10_000
_DEEPEST = 200  # the parser's tree is walked and freed recursively, in C and here
_KEEP_ALL = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
_BUCKETS = frozenset({"histogram_quantile", "histogram_fraction"})
_RELABEL = frozenset({"label_replace", "label_join"})
_ABSENT = frozenset({"absent", "absent_over_time"})
# What Rust's regular expressions know and RE2 in Go does not; Prometheus would refuse the rule.
_NOT_RE2 = re.compile(r"\(\?[a-zA-Z]*[xuR][a-zA-Z]*[-:)]|\[[^\]]*(?:&&|--|~~)|\\[uU<>]|\\b\{")
_ATOMS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_REPEAT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_TWICE = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})(?:[*+]|\{\d+(?:,\d*)?\})")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a text is not PromQL. `position` counts characters from 0; a good guess, as the parser gives none."""

    message: str
    position: int = 0


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """The labels that a result can carry: those in `only`, or (None: unknowable) all but those in `lost`."""

    only: frozenset[str] | None = None
    lost: frozenset[str] = frozenset()

    def may_have(self, label: str) -> bool:
        return label not in self.lost if self.only is None else label in self.only


NONE = Labels(only=frozenset())


class Expression(msgspec.Struct, frozen=True, kw_only=True):
    type: ResultType
    labels: Labels
    is_selector: bool = False


@lru_cache(maxsize=512)
def parse(text: str) -> Expression | Fault:
    """What `text` evaluates to, or why it is not PromQL."""
    if len(text) > _LONGEST:
        return Fault(message=f"longer than {_LONGEST} characters")
    if _depth(text) > _DEEPEST:
        return Fault(message=f"nested more than {_DEEPEST} levels deep")
    import promql_parser  # 8 ms that most policies need not pay

    try:
        tree = promql_parser.parse(text)
    except ValueError as error:
        message = str(error)
        return Fault(message=message, position=_position(text, message))
    return Expression(type=_type(tree), labels=_labels(tree), is_selector=type(tree).__name__ == "VectorSelector")


def regex_fault(pattern: str) -> str:
    """Why `pattern` is no regular expression to Prometheus (RE2, anchored); empty when it is one."""
    plain = _ATOMS.sub("x", pattern)  # escapes and classes stand for themselves below
    if any(int(high or low) > 1000 for low, high in _REPEAT.findall(plain)):
        return "a repeat count above 1000"
    if found := _TWICE.search(plain):
        return f"`{found.group()}` repeats a repetition"
    if found := _NOT_RE2.search(pattern):
        return f"RE2 does not know `{found.group()}`"
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    result = parse(f'x{{a=~"{quoted}"}}')
    if isinstance(result, Expression):
        return ""
    if "regex" not in result.message:
        return result.message
    return next((why for sign, why in _SIGNS.items() if sign in pattern), _unbalanced(pattern, plain))


_SIGNS = {
    "(?=": "RE2 has no look-ahead `(?=`",
    "(?!": "RE2 has no look-ahead `(?!`",
    "(?<=": "RE2 has no look-behind `(?<=`",
    "(?<!": "RE2 has no look-behind `(?<!`",
    "(?>": "RE2 has no atomic group `(?>`",
}


def _unbalanced(pattern: str, plain: str) -> str:
    if plain.count("(") != plain.count(")"):
        return "the parentheses do not match"
    if "[" in plain:
        return "a `[` is not closed"
    if re.search(r"\\[1-9]", pattern):
        return "RE2 has no back-reference such as \\1"
    return "RE2 cannot read it"


def _depth(text: str) -> int:
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest + max((len(run) for run in re.findall(r"[-+]{2,}", text)), default=0)


def _position(text: str, message: str) -> int:
    named = re.search(r"'([A-Za-z_:][\w:]*)'|illegal regex for (.+)", message, re.DOTALL)
    if named and (found := text.find(named.group(1) or named.group(2))) >= 0:
        return found
    opened = []
    for index, character in enumerate(text):
        if character in "([{":
            opened.append(index)
        elif character in ")]}":
            if not opened:
                return index
            opened.pop()
    if "unclosed" in message or "end of input" in message:
        return opened[-1] if opened else len(text)
    return 0


def _type(tree: Any) -> ResultType:
    match type(tree).__name__:
        case "NumberLiteral":
            return "scalar"
        case "StringLiteral":
            return "string"
        case "MatrixSelector" | "SubqueryExpr":
            return "range"
        case "ParenExpr" | "UnaryExpr":
            return _type(tree.expr)
        case "BinaryExpr":
            return "scalar" if _type(tree.lhs) == _type(tree.rhs) == "scalar" else "vector"
        case "Call":
            named = str(tree.func.return_type).rpartition(".")[2].lower()
            return "scalar" if named == "scalar" else "string" if named == "string" else "vector"
    return "vector"


def _labels(tree: Any) -> Labels:
    match type(tree).__name__:
        case "VectorSelector":
            empty = (m.name for m in tree.matchers.matchers if _is_equality(m) and m.value == "")
            return Labels(lost=frozenset(empty))
        case "MatrixSelector":
            return _labels(tree.vector_selector)
        case "SubqueryExpr" | "ParenExpr" | "UnaryExpr":
            return _labels(tree.expr)
        case "AggregateExpr":
            return _aggregated(tree)
        case "BinaryExpr":
            return _combined(tree)
        case "Call":
            return _called(tree)
    return NONE


def _aggregated(tree: Any) -> Labels:
    operation, inner = str(tree.op), _labels(tree.expr)
    if operation in _KEEP_ALL:
        return inner
    if tree.modifier is None:
        kept = NONE
    elif str(tree.modifier.type).endswith("By"):
        kept = Labels(only=frozenset(label for label in tree.modifier.labels if inner.may_have(label)))
    else:
        kept = _less(inner, frozenset(tree.modifier.labels))
    return _plus(kept, frozenset({tree.param.val})) if operation == "count_values" else kept


def _combined(tree: Any) -> Labels:
    left, right, operation = tree.lhs, tree.rhs, str(tree.op)
    if _type(left) == "scalar":
        return _labels(right)
    if _type(right) == "scalar":
        return _labels(left)
    ours, theirs = _labels(left), _labels(right)
    if operation in ("and", "unless"):
        return ours
    if operation == "or":
        return _either(ours, theirs)
    modifier = tree.modifier
    card = str(modifier.card).rpartition(".")[2] if modifier is not None else "OneToOne"
    if card == "OneToMany":
        ours, theirs = theirs, ours
    if card in ("OneToMany", "ManyToOne"):
        taken = frozenset(modifier.group_labels or ())
        return _plus(_less(ours, taken), frozenset(label for label in taken if theirs.may_have(label)))
    if modifier is None or modifier.matching is None:
        return ours
    matched = frozenset(modifier.matching.labels)
    if str(modifier.matching.type).endswith("Include"):
        return Labels(only=frozenset(label for label in matched if ours.may_have(label)))
    return _less(ours, matched)


def _called(tree: Any) -> Labels:
    name, arguments = tree.func.name, tree.args
    if name in _ABSENT:
        return _absent(arguments[0])
    if name == "info":
        return Labels()
    inner = next((_labels(a) for a in arguments if _type(a) in ("vector", "range")), NONE)
    if name in _RELABEL:
        return _plus(inner, frozenset({arguments[1].val}))
    if name in _BUCKETS:
        return _less(inner, frozenset({"le"}))
    return NONE if name == "scalar" else inner


def _absent(argument: Any) -> Labels:
    while type(argument).__name__ in ("ParenExpr", "MatrixSelector"):
        argument = argument.expr if type(argument).__name__ == "ParenExpr" else argument.vector_selector
    if type(argument).__name__ != "VectorSelector":
        return NONE
    every = [m.name for m in argument.matchers.matchers]
    equal = (m.name for m in argument.matchers.matchers if _is_equality(m) and m.value and every.count(m.name) == 1)
    return Labels(only=frozenset(equal) - {"__name__"})


def _is_equality(matcher: Any) -> bool:
    return str(matcher.op).rpartition(".")[2] == "Equal"


def _plus(labels: Labels, more: frozenset[str]) -> Labels:
    if labels.only is None:
        return Labels(lost=labels.lost - more)
    return Labels(only=labels.only | more)


def _less(labels: Labels, gone: frozenset[str]) -> Labels:
    if labels.only is None:
        return Labels(lost=labels.lost | gone)
    return Labels(only=labels.only - gone)


def _either(left: Labels, right: Labels) -> Labels:
    if left.only is not None and right.only is not None:
        return Labels(only=left.only | right.only)
    known, unknown = (left, right) if left.only is not None else (right, left)
    if known.only is not None:
        return Labels(lost=unknown.lost - known.only)
    return Labels(lost=left.lost & right.lost)
