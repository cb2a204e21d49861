"""Write tests/data/reference/trajectories.json: how parameters move under each optimizer.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

import numpy as np
import paddle
from harvest_types import REFERENCE, repeatable, write_lines

STEPS = 20
CLIP = "grad_clip=paddle.nn.ClipGradBy"
CASES = {  # `P` are the parameters to update, `p` a table of 6 rows and a matrix
    "sgd": "SGD(0.1, **P)",
    "sgd l2": "SGD(0.1, weight_decay=0.1, **P)",
    "sgd l1": "SGD(0.1, weight_decay=paddle.regularizer.L1Decay(0.01), **P)",
    "sgd clip value": f"SGD(0.5, {CLIP}Value(0.01), **P)",
    "sgd clip norm": f"SGD(0.5, {CLIP}Norm(0.05), **P)",
    "sgd clip global norm": f"SGD(0.5, {CLIP}GlobalNorm(0.05), **P)",
    "momentum": "Momentum(0.1, 0.9, **P)",
    "momentum nesterov": "Momentum(0.1, 0.8, use_nesterov=True, weight_decay=0.01, **P)",
    "adam": "Adam(0.05, **P)",
    "adam betas": "Adam(0.05, 0.8, 0.9, 1e-3, weight_decay=0.01, **P)",
    "adam lazy": "Adam(0.05, lazy_mode=True, **P)",
    "adamw": "AdamW(0.05, weight_decay=0.1, **P)",
    "adamw some": "AdamW(0.05, apply_decay_param_fun=lambda n: n == 'matrix', **P)",
    "adamax": "Adamax(0.05, **P)",
    "adamax decay": "Adamax(0.05, 0.8, 0.95, weight_decay=0.01, **P)",
    "adagrad": "Adagrad(0.1, initial_accumulator_value=0.1, **P)",
    "adadelta": "Adadelta(1.0, rho=0.9, **P)",
    "rmsprop": "RMSProp(0.02, **P)",
    "rmsprop centered": "RMSProp(0.02, rho=0.9, momentum=0.8, centered=True, **P)",
    "lamb": "Lamb(0.05, **P)",
    "lamb some": "Lamb(0.05, 0.1, exclude_from_weight_decay_fn=lambda p: 'table' in p.name, **P)",
    "schedule": "Adam(paddle.optimizer.lr.StepDecay(0.1, 5, 0.5), **P)",
    "groups": "AdamW(0.05, parameters=[{'params': [p[0]], 'learning_rate': 0.1},"
    " {'params': [p[1]], 'weight_decay': 0.2}])",
    "lbfgs": "LBFGS(0.5, max_iter=4, history_size=5, **P)",
    "lbfgs search": "LBFGS(1.0, max_iter=4, line_search_fn='strong_wolfe', **P)",
}
SPARSE = ("sgd", "momentum", "adam", "adam lazy", "adagrad")


def started(shape: list[int]) -> np.ndarray:
    """First values."""
    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 0.7 + count).reshape(shape).astype(np.float32) * 0.5


def trajectory(case: str, sparse: bool) -> list[list[float]]:
    """Both parameters in line after the first, the fifth and the last step."""
    paddle.seed(0)
    p = []
    for name, shape in (("table", [6, 3]), ("matrix", [3, 2])):
        first = paddle.ParamAttr(name, paddle.nn.initializer.Assign(started(shape)))
        p.append(paddle.create_parameter(shape, "float32", attr=first))
    names = {"paddle": paddle, "P": {"parameters": p}, "p": p}
    optimizer = eval(f"paddle.optimizer.{CASES[case]}", names)
    rows, target = paddle.to_tensor([4, 1, 1, 5]), paddle.to_tensor(started([4, 2]) * 2.0)

    def loss():
        seen = paddle.nn.functional.embedding(rows, p[0], sparse=sparse)
        return paddle.mean((paddle.tanh(paddle.matmul(seen, p[1])) - target) ** 2)

    def closure():
        optimizer.clear_grad()
        found = loss()
        found.backward()
        return found

    seen = []
    for step in range(1, STEPS + 1):
        if case.startswith("lbfgs"):
            optimizer.step(closure)
        else:
            loss().backward()
            optimizer.step()
            optimizer.clear_grad()
        if case == "schedule":
            optimizer._learning_rate.step()
        if step in (1, 5, STEPS):
            seen.append([round(float(v), 8) for each in p for v in each.numpy().ravel()])
    return seen


def main() -> None:
    repeatable()
    rows = {}
    for case, text in CASES.items():
        with paddle.utils.unique_name.guard():
            rows[case] = {"make": text, "seen": trajectory(case, sparse=False)}
        if case in SPARSE:
            with paddle.utils.unique_name.guard():
                rows[case]["sparse"] = trajectory(case, sparse=True)
    write_lines(REFERENCE / "trajectories.json", rows)


if __name__ == "__main__":
    main()
