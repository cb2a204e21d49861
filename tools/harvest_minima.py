"""Write minima.json: what minimize_bfgs and minimize_lbfgs of the reference return.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean. The calls are those where the reference does as the book says: its search along a
line keeps the slope of the start when it has gone further, its BFGS multiplies with its matrices
transposed, and with a full memory its L-BFGS may run for ever.
"""

import paddle
from harvest_types import REFERENCE, write_lines
from paddle.incubate.optimizer.functional import minimize_bfgs, minimize_lbfgs

FUNCTIONS = {
    "far": "lambda x: ((x - 3.0) ** 2).sum()",
    "waves": "lambda x: (x**4).sum() - paddle.cos(3 * x).sum()",
    "bowl": "lambda x: (paddle.arange(1, 11).astype(x.dtype) * (x - 1) ** 2).sum()",
    "valley": "lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()",
    "line": "lambda x: ((x - 3.0) ** 2).sum().reshape([1])",
}

CALLS = """
bfgs(far, t([1.0, 2.0]))
bfgs(far, t([1.0, 2.0]), dtype='float64')
bfgs(line, t([1.0, 2.0]), dtype='float64')
bfgs(far, t([1.0, 2.0]), max_iters=0)
bfgs(far, t([1.0, 2.0]), max_line_search_iters=0)
bfgs(far, t([1.0, 2.0]), initial_inverse_hessian_estimate=t([[1.0, 0.0], [0.0, 4.0]]))
bfgs(waves, t([0.3]), dtype='float64')
bfgs(valley, t([-1.2, 1.0]), max_line_search_iters=3, dtype='float64')
lbfgs(far, t([1.0, 2.0]))
lbfgs(far, t([1.0, 2.0]), dtype='float64')
lbfgs(line, t([1.0, 2.0]), dtype='float64')
lbfgs(far, t([1.0, 2.0]), max_iters=0)
lbfgs(far, t([1.0, 2.0]), history_size=1, dtype='float64')
lbfgs(far, t([1.0, 2.0]), initial_step_length=0.1, dtype='float64')
lbfgs(far, t([1.0, 2.0]), initial_inverse_hessian_estimate=t([[1.0, 0.0], [0.0, 4.0]]))
lbfgs(bowl, t([0.0] * 10), dtype='float64')
lbfgs(bowl, t([0.0] * 10), max_iters=4, dtype='float64')
lbfgs(waves, t([0.3]), dtype='float64')
lbfgs(valley, t([-1.2, 1.0]), max_iters=3, dtype='float64')
lbfgs(valley, t([-1.2, 1.0]), max_iters=3, tolerance_change=10.0, dtype='float64')
bfgs(far, [1.0, 2.0])
bfgs(far, t([1.0, 2.0]), dtype='int32')
bfgs(far, t([1, 2]))
bfgs(far, t([1.0, 2.0]), line_search_fn='hager_zhang')
bfgs(far, t([1.0, 2.0]), initial_inverse_hessian_estimate=[[1.0, 0.0], [0.0, 1.0]])
bfgs(far, t([1.0, 2.0]), initial_inverse_hessian_estimate=t([[1.0, 2.0], [3.0, 4.0]]))
bfgs(far, t([1.0, 2.0]), initial_inverse_hessian_estimate=t([[-1.0, 0.0], [0.0, 4.0]]))
lbfgs(far, [1.0, 2.0])
lbfgs(far, t([1.0, 2.0]), dtype='float16')
lbfgs(far, t([1.0, 2.0]), line_search_fn='hager_zhang')
"""


def found(call: str) -> dict:
    """What one call returned, or the type of the exception it raised."""
    dtype = "float64" if "float64" in call else None
    known = {name: eval(text) for name, text in FUNCTIONS.items()}
    known |= {"bfgs": minimize_bfgs, "lbfgs": minimize_lbfgs}
    try:
        results = eval(call, known | {"t": lambda values: paddle.to_tensor(values, dtype)})
    except (ValueError, NotImplementedError) as error:
        return {"raises": type(error).__name__}
    return {
        "dtypes": [str(x.dtype).removeprefix("paddle.") for x in results],
        "results": [x.numpy().tolist() for x in results],
    }


if __name__ == "__main__":
    rows = {call: found(call) for call in CALLS.strip().splitlines()}
    write_lines(REFERENCE / "minima.json", {"": FUNCTIONS} | rows)
