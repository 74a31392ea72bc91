"""Formulas such as ``y ~ a*b + C(c)``: what they ask of a table, and that they ask nothing else.

formulaic reads the formula and lays out its terms. What stands inside of a call is Python, so before anything
is evaluated each expression is held to a short list of what may be in it: a formula can come out of a model
file, and opening one must not run code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError, RefusalError

FUNCTIONS = {
    name: getattr(np, name)
    for name in ("abs", "cos", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sqrt", "tanh")
}
CONTRASTS = ("treatment", "sum", "helmert", "poly", "diff", "SAS")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)
STATEFUL = ("center", "scale", "standardize", "poly", "bs", "cr", "cs", "cc")  # of all rows together
MOST = 1000  # what a number beside the column of such a function may be: a degree, or how many knots
_QUOTED = re.compile(r"`([^`]*)`")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that was read: its right side, the column on its left, and the columns it needs.

    categories: those that stand for levels by ``C(...)``. intercept: whether it has one. stateful: the parts
    that depend on all rows together, such as ``center(a)``, and the columns that they name.
    """

    right: Any
    target: str | None
    variables: tuple[str, ...]
    categories: tuple[str, ...]
    intercept: bool
    stateful: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


def read_formula(text: str, columns: Sequence[str]) -> Formula:
    """Read a formula for a table with these columns; "." stands for all of them."""
    parsed = _parsed(_without_dot(text, columns))
    left = getattr(parsed, "lhs", None)
    right = parsed if left is None else parsed.rhs
    variables: dict[str, None] = {}
    categories: dict[str, None] = {}
    intercept = False
    stateful: dict[str, None] = {}
    whole: dict[str, None] = {}
    for term in right:
        intercept = intercept or str(term) == "1"
        for factor in term.factors:
            if factor.eval_method.value == "lookup":
                variables[factor.expr] = None
            elif factor.eval_method.value == "python":
                for name, is_category, learns in _names(factor.expr):
                    variables[name] = None
                    if is_category:
                        categories[name] = None
                    if learns:
                        stateful[factor.expr] = None
                if factor.expr in stateful:
                    whole.update({name: None for name, _, _ in _names(factor.expr)})
    for name in variables:
        if name not in columns:
            raise DataError(_unknown(name, columns))
    for name in whole:
        if name in categories:
            raise ParameterError(
                f"column {name!r} is used both as categorical and as numeric in the formula: choose one."
            )
    return Formula(
        right,
        _target(left, text),
        tuple(variables),
        tuple(categories),
        intercept,
        tuple(stateful),
        tuple(whole),
    )


def target_of(text: str) -> tuple[str, bool]:
    """The column on the left of a formula, and whether its right has an intercept."""
    left, tilde, right = text.partition("~")
    if not tilde or not left.strip():
        terms = (right if tilde else text).strip() or "column"
        raise ParameterError(f"the formula {text!r} has no target: write it as 'target ~ {terms}'.")
    parsed = _parsed(f"{left} ~ {'1' if right.strip() == '.' else right}")
    target = _target(parsed.lhs, text)
    assert target is not None
    return target, any(str(term) == "1" for term in parsed.rhs)


def load_formulaic() -> Any:
    """Import formulaic, which comes with an extra."""
    try:
        import formulaic
    except ImportError:
        raise RefusalError("formulas need the package formulaic: pip install 'surefit[formula]'.") from None
    return formulaic


def _parsed(text: str) -> Any:
    formulaic = load_formulaic()
    try:
        return formulaic.Formula(text)
    except Exception as error:  # the parser's errors have no common base but this
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ParameterError(f"the formula {text!r} cannot be read: {reason.rstrip('.')}.") from None


def _without_dot(text: str, columns: Sequence[str]) -> str:
    left, tilde, right = text.rpartition("~")
    if right.strip() != ".":
        return text
    target = left.strip().strip("`")
    return f"{left}{tilde} " + (" + ".join(f"`{name}`" for name in columns if name != target) or "1")


def _target(left: Any, text: str) -> str | None:
    if left is None:
        return None
    factors = [factor for term in left for factor in term.factors]
    if len(factors) != 1 or factors[0].eval_method.value != "lookup":
        raise ParameterError(
            f"the left of {text!r} must be one column by its name: transform it in the table beforehand."
        )
    return str(factors[0].expr)


def _names(expression: str) -> Iterator[tuple[str, bool, bool]]:
    """The columns in a Python expression, whether they stand for levels, and whether all rows together count;
    refuse all but a few things.
    """
    quoted: list[str] = []

    def held(found: re.Match[str]) -> str:
        quoted.append(found.group(1))
        return f"quoted_{len(quoted) - 1}_"

    try:
        tree = ast.parse(_QUOTED.sub(held, expression), mode="eval").body
    except SyntaxError:
        raise ParameterError(f"{expression!r} in the formula is not valid: correct it.") from None
    for name, is_category, learns in _walk(tree, expression, False):
        place = re.fullmatch(r"quoted_(\d+)_", name)
        yield (quoted[int(place.group(1))] if place else name), is_category, learns


def _walk(node: ast.AST, whole: str, learns: bool) -> Iterator[tuple[str, bool, bool]]:
    if isinstance(node, ast.Name):
        yield node.id, False, learns
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
        if isinstance(node.op, ast.Pow) and not any(
            isinstance(part, ast.Name) for part in ast.walk(node.left)
        ):
            _refuse(whole)  # whole numbers have as many digits as such a power asks for
        yield from _walk(node.left, whole, learns)
        yield from _walk(node.right, whole, learns)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, _OPERATORS):
        yield from _walk(node.operand, whole, learns)
    elif _learns(node) and not learns:
        call: Any = node
        settings = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
        if not call.args or not all(keyword.arg and _is_setting(keyword.value) for keyword in call.keywords):
            _refuse(whole)
        if not all(map(_is_setting, settings)):
            _refuse(whole)
        yield from _walk(call.args[0], whole, True)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name == "C" and 1 <= len(node.args) <= 2 and isinstance(node.args[0], ast.Name):
            if len(node.args) == 2 and not _is_contrast(node.args[1]):
                _refuse(whole)
            if learns:
                _refuse(whole)
            yield node.args[0].id, True, False
        elif (name == "I" or name in FUNCTIONS) and len(node.args) == 1:
            yield from _walk(node.args[0], whole, learns)
        else:
            _refuse(whole)
    elif not (isinstance(node, ast.Constant) and isinstance(node.value, int | float)):
        _refuse(whole)


def _learns(node: ast.AST) -> bool:
    """Whether it is a call of a function that depends on all rows together."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in STATEFUL


def _is_setting(node: ast.AST) -> bool:
    """Whether it is a number of modest size, a word, or a list of numbers."""
    if isinstance(node, ast.List | ast.Tuple):
        return len(node.elts) <= MOST and all(_is_number(each) for each in node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bool | None):
        return True
    whole = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return _is_number(node) and not (whole and node.value > MOST)  # type: ignore[attr-defined]


def _is_number(node: ast.AST) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_contrast(node: ast.AST) -> bool:
    """Whether it is contr.sum and the like, or contr.treatment("a level")."""
    if isinstance(node, ast.Call):
        plain = all(isinstance(arg, ast.Constant) for arg in node.args) and not node.keywords
        return plain and _is_contrast(node.func)
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "contr"
        and node.attr in CONTRASTS
    )


def _refuse(whole: str) -> None:
    raise ParameterError(
        f"{whole!r} is not allowed in a formula: it may hold columns, numbers, + - * / **, C(), I(), "
        f"contr.{{{','.join(CONTRASTS)}}}, {', '.join(FUNCTIONS)}, and of a column with numbers beside it "
        f"{', '.join(STATEFUL)}."
    )


def _unknown(name: str, columns: Sequence[str]) -> str:
    near = get_close_matches(name, columns, n=1)
    shown = ", ".join(map(repr, columns[:8])) + (" and more" if len(columns) > 8 else "")
    hint = f"did you mean {near[0]!r}?" if near else f"it has {shown}."
    return f"the formula names {name!r}, which is not a column of the table: {hint}"
