"""`case pattern if guard`: the pattern is Python's, and the guard a condition like others."""

import ast
from typing import Any

from scull.jit.convert.syntax import (
    SCOPES,
    Fresh,
    Statements,
    assigned,
    both,
    load,
    placed,
    rebuilt,
)


def lower_matches(body: Statements, fresh: Fresh) -> Statements:
    """`body`, in which no `case` has a guard."""
    made: Statements = []
    for statement in body:
        if not isinstance(statement, SCOPES):
            statement = rebuilt(statement, lambda b: lower_matches(b, fresh))
        if isinstance(statement, ast.Match) and any(c.guard for c in statement.cases):
            made += [placed(s, statement) for s in without_guards(statement, fresh)]
        else:
            made.append(statement)
    return made


def without_guards(node: ast.Match, fresh: Fresh) -> Statements:
    """One `match`, whose inner ones are done."""
    subject = fresh("subject")
    return [assigned(subject, node.subject), *chosen(subject, node.cases, fresh)]


def chosen(subject: str, cases: list[Any], fresh: Fresh) -> Statements:
    """The first of `cases` that `subject` fits."""
    at = next((i for i, case in enumerate(cases) if case.guard), len(cases))
    plain, rest = cases[:at], cases[at:]
    otherwise = guarded(subject, rest[0], rest[1:], fresh) if rest else []
    if not plain:
        return otherwise
    last = [placed(any_other(otherwise), rest[0].pattern)] if otherwise else []
    return [placed(ast.Match(load(subject), [*plain, *last]), plain[0].pattern)]


def guarded(subject: str, case: Any, rest: list[Any], fresh: Fresh) -> Statements:
    """A case with a guard, and behind it the rest."""
    fits = fresh("fits")
    pattern = ast.match_case(case.pattern, None, [assigned(fits, ast.Constant(True))])
    made: Statements = [
        assigned(fits, ast.Constant(False)),
        ast.Match(load(subject), [pattern]),
        ast.If(both(load(fits), case.guard), case.body, chosen(subject, rest, fresh)),
    ]
    return [placed(s, case.pattern) for s in made]


def any_other(body: Statements) -> Any:
    """`case _`."""
    return ast.match_case(ast.MatchAs(), None, body)
