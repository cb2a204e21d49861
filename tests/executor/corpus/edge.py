"""Features of the edges of a run: feeds, fetches and the scope."""

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case


def scope_written(case: Case) -> None:
    """A variable of the scope is read, gets a new value, and is read again."""
    kept = case.persistable(case.array(*SHAPE))
    case.keep(paddle.tanh(kept))
    paddle.assign(case.pick() * 0.5, output=kept)
    case.keep(kept + 1.0)


def scope_overwritten(case: Case) -> None:
    """A variable of the scope is written over where it lies, also what lies in it is read."""
    kept = case.persistable(case.array(*SHAPE))
    seen = paddle.reshape(kept, SHAPE)
    case.update(kept, case.pick())
    case.keep(seen, seen * kept)


def scope_begins(case: Case) -> None:
    """A variable of the scope has no value before the run."""
    block = case.main.global_block()
    name = f"kept{case.number()}"
    kept = block.create_var(name, shape=SHAPE, dtype="float32", persistable=True)
    paddle.assign(case.pick(), output=kept)
    case.keep(kept * 2.0)


def fed_written(case: Case) -> None:
    """What is fed is written over by an operator, and what was fed stays as it is."""
    given = case.fed(case.array(*SHAPE))
    seen = paddle.transpose(given, [1, 0])
    case.update(given, case.pick())
    case.keep(given, seen)


def fed_fetched(case: Case) -> None:
    """What is fed is fetched."""
    given = case.fed(case.array(*SHAPE))
    case.fetches.append(given)
    case.keep(given)


def fed_to_scope(case: Case) -> None:
    """A variable of the scope is fed."""
    kept = case.persistable(case.array(*SHAPE))
    case.feeds[kept.name] = case.array(*SHAPE)
    case.keep(kept + 0.5)


def fetched_twice(case: Case) -> None:
    """One value is fetched twice, and a view of it."""
    value = case.keep(paddle.tanh(case.pick()))
    case.fetches += [value, value, paddle.reshape(value, [9])]


def scope_fetched(case: Case) -> None:
    """A variable of the scope is fetched, and written over."""
    kept = case.persistable(case.array(*SHAPE))
    case.fetches.append(kept)
    case.keep(paddle.tanh(kept))
    case.update(kept, case.pick())


def no_input(case: Case) -> None:
    """Nothing is fed."""
    assert not case.feeds


def no_fetch(case: Case) -> None:
    """Nothing is fetched: what a run leaves is in the scope."""
    kept = case.persistable(case.array(*SHAPE))
    case.keep(paddle.tanh(kept))
    paddle.assign(case.pick() + kept, output=kept)


FEATURES = {
    "scope written": scope_written,
    "scope overwritten": scope_overwritten,
    "scope begins": scope_begins,
    "feed written": fed_written,
    "feed fetched": fed_fetched,
    "feed to scope": fed_to_scope,
    "fetched twice": fetched_twice,
    "scope fetched": scope_fetched,
    "no input": no_input,
    "no fetch": no_fetch,
}
