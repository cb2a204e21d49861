"""Samples of running sums."""

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples


def counts(*numbers):
    return [array([n], "int64") for n in numbers]


def summed(param, a, b, c, steps, old, updates, *, average_window, longest=16384, **windows):
    updates, steps, a = updates + 1, steps + 1, a + param
    if updates % longest == 0:
        a, b = a * 0, a + b
    window = min(windows["max_average_window"], int(updates.item() * average_window))
    if steps >= max(windows["min_average_window"], window):
        a, b, c, old, steps = a * 0, b * 0, a + b, steps, steps * 0
    return a, b, c, steps, old, updates


@samples("average_accumulates", reference=summed)
def average_accumulates_samples():
    some = {"average_window": 0.5, "max_average_window": 10, "min_average_window": 2}
    yield call(*[f32(2, 3) for _ in range(4)], *counts(0, 0, 0), **some)
    yield call(*[f32(2, 3) for _ in range(4)], *counts(5, 3, 8), **some)
    long = some | {"max_average_window": 10**6}
    yield call(*[f64(3) for _ in range(4)], *counts(5, 3, 16383), **long)
    yield call(*[f32() for _ in range(4)], *counts(9, 3, 100), **long)
    yield call(*[f32(0, 3) for _ in range(4)], *counts(9, 3, 100), **some)
    law = "in_sum_2 is float32[2] and param is float32[3]: their shapes differ"
    yield fails(ShapeError, law, f32(3), f32(3), f32(2), f32(3), *counts(1, 1, 1), **some)
    law = "in_sum_1 is float64 and param is float32"
    yield fails(DtypeError, law, f32(3), f64(3), f32(3), f32(3), *counts(1, 1, 1), **some)
    law = "in_num_updates is float32, not an integer"
    yield fails(DtypeError, law, *[f32(3) for _ in range(4)], *counts(1, 1), f32(1), **some)
