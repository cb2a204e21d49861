"""The Programs of the corpus, each built when it is first asked for."""

from functools import cache

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case
from tests.executor.corpus.cover import FEATURES, optimizers, sets

NAMES = tuple(sets())


@cache
def program(name: str) -> Case:
    """The Program of this name, in static mode."""
    case = Case(name, sets()[name], optimizers().get(name, ""))
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(case.main, case.startup):
        begin(case)
        for feature in case.features:
            FEATURES[feature](case)
    case.finish()
    return case


def begin(case: Case) -> None:
    """The first values: fed, or made where nothing is fed, and one made of it."""
    value = case.array(*SHAPE)
    case.keep(paddle.assign(value) if case.unfed else case.fed(value))
    case.keep(case.pick() * 0.75 + 0.125)


def listing() -> str:
    """Every Program with its features and the number of its operators."""
    lines = []
    for name in NAMES:
        case = program(name)
        step = f" ({case.optimizer})" if case.optimizer else ""
        size = len(case.main.global_block().ops)
        lines.append(f"{name}: {size} operators: {', '.join(case.features)}{step}")
    return "\n".join(lines)
