"""`match`: what a pattern asks for by value, or with a guard, is a condition like others.

How a subject is built (sequences, mappings, classes) Python itself looks at.
"""

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import Any

from scull.jit.convert.syntax import (
    SCOPES,
    Fresh,
    Statements,
    assigned,
    both,
    load,
    meaning,
    placed,
    rebuilt,
)

VALUES = ast.MatchValue | ast.MatchSingleton
ASKING = ast.MatchValue | ast.MatchClass


def lower_matches(body: Statements, fresh: Fresh) -> Statements:
    """`body`, in which no `case` asks for a value or has a guard."""
    made: Statements = []
    for statement in body:
        if not isinstance(statement, SCOPES):
            statement = rebuilt(statement, lambda b: lower_matches(b, fresh))
        if isinstance(statement, ast.Match) and any(map(asks, statement.cases)):
            made += [placed(s, statement) for s in by_conditions(statement, fresh)]
        else:
            made.append(statement)
    return made


def asks(case: ast.match_case) -> bool:
    """Whether more than Python decides that a subject fits."""
    return bool(case.guard) or any(isinstance(n, ASKING) for n in ast.walk(case.pattern))


def by_conditions(node: ast.Match, fresh: Fresh) -> Statements:
    """One `match`, whose inner ones are done."""
    subject = fresh("subject")
    cases = [each for case in node.cases for each in without_choices(case)]
    return [assigned(subject, node.subject), *chosen(subject, cases, fresh)]


def chosen(subject: str, cases: list[ast.match_case], fresh: Fresh) -> Statements:
    """The first of `cases` that `subject` fits."""
    at = next((i for i, case in enumerate(cases) if asks(case)), len(cases))
    plain, rest = cases[:at], cases[at:]
    otherwise = tested(subject, rest[0], rest[1:], fresh) if rest else []
    if not plain:
        return otherwise
    last = [placed(any_other(otherwise), rest[0].pattern)] if otherwise else []
    return [placed(ast.Match(load(subject), [*plain, *last]), plain[0].pattern)]


def tested(
    subject: str, case: ast.match_case, rest: list[ast.match_case], fresh: Fresh
) -> Statements:
    """A case that asks, and behind it the rest."""
    asked = Asked(fresh)
    pattern = asked.visit(case.pattern)
    tests, taken = asked.tests, []
    if case.guard:
        tests = [*tests, case.guard]  # it reads the names, so they are bound before
    elif tests:
        taken = renamed(pattern, asked.values, fresh)
    made: Statements = [*asked.kinds]
    if isinstance(pattern, ast.MatchAs) and not pattern.pattern:  # whatever comes
        made += [assigned(pattern.name, load(subject))] if pattern.name else []
    else:
        fits = fresh("fits")
        found = ast.match_case(pattern, None, [assigned(fits, ast.Constant(True))])
        made += [assigned(fits, ast.Constant(False)), ast.Match(load(subject), [found])]
        tests = [load(fits), *tests]
    made.append(ast.If(both(*tests), [*taken, *case.body], chosen(subject, rest, fresh)))
    return [placed(s, case.pattern) for s in made]


class Asked(ast.NodeTransformer):
    """A pattern whose values are names, with the `tests` of these; `kinds` are made before it."""

    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh
        self.values: set[str] = set()
        self.tests: list[ast.expr] = []
        self.kinds: Statements = []

    def visit_MatchValue(self, node: Any) -> Any:
        name = self.fresh("value")
        self.values.add(name)
        tests = [test(name, p) for p in getattr(node, "patterns", [node])]
        self.tests.append(tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests))
        return placed(ast.MatchAs(None, name), node)

    def visit_MatchOr(self, node: ast.MatchOr) -> Any:
        return self.visit_MatchValue(node) if is_of_values(node) else self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> Any:
        self.generic_visit(node)
        name = self.fresh("kind")
        self.kinds.append(placed(assigned(name, meaning("kind", node.cls)), node))
        node.cls = placed(load(name), node.cls)
        return node


def test(name: str, pattern: Any) -> ast.expr:
    """Whether `name` is what a pattern says."""
    if isinstance(pattern, ast.MatchSingleton):
        value = placed(ast.Constant(pattern.value), pattern)
        return placed(ast.Compare(load(name), [ast.Is()], [value]), pattern)  # type: ignore[no-any-return]
    return placed(ast.Compare(load(name), [ast.Eq()], [pattern.value]), pattern)  # type: ignore[no-any-return]


def is_of_values(node: ast.MatchOr) -> bool:
    """Whether a choice is one of values alone."""
    return all(isinstance(p, VALUES) for p in node.patterns) and asks_value(node)


def asks_value(pattern: ast.AST) -> bool:
    """Whether there is a value in a pattern."""
    return any(isinstance(n, ast.MatchValue) for n in ast.walk(pattern))


def renamed(pattern: ast.AST, values: set[str], fresh: Fresh) -> Statements:
    """What gives the names of a pattern their values, once its tests hold; it binds others."""
    made: Statements = []
    for node in ast.walk(pattern):
        field = "rest" if isinstance(node, ast.MatchMapping) else "name"
        name = getattr(node, field, None)
        if name and name not in values:
            setattr(node, field, fresh(name))
            made.append(assigned(name, load(getattr(node, field))))
    return made


def without_choices(case: ast.match_case) -> Iterator[ast.match_case]:
    """A case as several, where a choice between patterns holds values and more."""
    found = list(expanded(case.pattern))
    if len(found) == 1:
        yield case
        return
    for pattern in found:
        yield ast.match_case(pattern, copy.deepcopy(case.guard), copy.deepcopy(case.body))


def expanded(pattern: Any) -> Iterator[Any]:
    """The patterns of which the first that fits counts."""
    if isinstance(pattern, ast.MatchOr) and asks_value(pattern) and not is_of_values(pattern):
        for choice in pattern.patterns:
            yield from expanded(choice)
        return
    fields = [f for f in ("pattern", "patterns", "kwd_patterns") if getattr(pattern, f, None)]
    if isinstance(pattern, ast.MatchOr) or not fields:
        yield pattern
        return
    for values in itertools.product(*[list(parts(getattr(pattern, f))) for f in fields]):
        made = copy.copy(pattern)
        for field, value in zip(fields, values, strict=True):
            setattr(made, field, value)
        yield made


def parts(held: Any) -> Iterator[Any]:
    """The same of what a field holds: one pattern or several."""
    if isinstance(held, list):
        yield from map(list, itertools.product(*[list(expanded(p)) for p in held]))
    else:
        yield from expanded(held)


def any_other(body: Statements) -> Any:
    """`case _`."""
    return ast.match_case(ast.MatchAs(), None, body)
