"""Samples of calls of Python, and of what stops a Program."""

import numpy as np

from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.python import PythonFunction, registered
from tests.ops.sample import array, boolean, call, f32, fails, samples

DOUBLE = registered(PythonFunction(lambda x: 2 * np.array(x, "float32"), (Meta((2, 3), float32),)))
ONES = registered(PythonFunction(lambda: np.ones(2, "float32"), (Meta((2,), float32),), False))


@samples("py_func")
def py_func_samples():
    x = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    how = {"unknown_sizes": False}
    yield call([x], forward_callable_id=DOUBLE, reference=lambda x: [2 * x[0]], **how)
    yield call([x], forward_callable_id=ONES, reference=lambda x: [np.ones(2)], **how)
    law = "this process knows no Python function by the number -7"
    yield fails(ArgumentError, law, [f32(2)], forward_callable_id=-7)


@samples("assert_true", reference=lambda *_: ())
def assert_samples():
    yield call(array([True], bool), [f32(2, 3)])
    yield call(array(True, bool))
    law = "what was to hold does not:\n  int64[3] 1, 2, ..."
    data = [array([1, 2, 3], "int64")]
    yield fails(ArgumentError, law, array([False], bool), data, summarize=2, by_value=True)
    law = "too large:\n  int64[3] 1, 2, 3"
    yield fails(ArgumentError, law, array([False], bool), data, message="too large", by_value=True)
    yield fails(DtypeError, "cond is float32, not bool", f32(1))
    yield fails(ShapeError, "cond has 2 elements, not one", boolean(2))
