"""Write tests/data/models/: small models that the reference saved, with inputs and results.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the files are.
"""

import pickle
from pathlib import Path

import numpy as np
import paddle
from harvest_describe import fresh_numbering
from harvest_programs import serialised
from harvest_types import REFERENCE, repeatable
from paddle import nn, static
from paddle.base.proto import framework_pb2

MODELS = REFERENCE.parent / "models"
STEPS = 5


def tidy(path: str) -> None:
    """Take `op_callstack` from a saved model, and order its list of parameters by name."""
    model, listed = Path(f"{path}.pdmodel"), Path(f"{path}.pdiparams.info")
    program = framework_pb2.ProgramDesc.FromString(model.read_bytes())
    for block in program.blocks:
        for operator in block.ops:
            kept = [each for each in operator.attrs if each.name != "op_callstack"]
            del operator.attrs[:]
            operator.attrs.extend(kept)
    model.write_bytes(program.SerializeToString())
    if listed.exists():
        parameters = pickle.loads(listed.read_bytes())
        listed.write_bytes(pickle.dumps(dict(sorted(parameters.items())), protocol=2))


def linear() -> nn.Layer:
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def network() -> nn.Layer:
    return nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1),
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Linear(64, 3),
        nn.Softmax(),
    )


SHAPES = {linear: [4], network: [1, 8, 8]}


def values(shape: list) -> np.ndarray:
    """Return float32 values between -1 and 1 that are the same on every machine."""
    count = int(np.prod(shape))
    steps = (np.arange(count, dtype=np.int64) * 7919) % 1009
    return (steps / 504.5 - 1).astype(np.float32).reshape(shape)


def save_from_program(build) -> dict:
    """Save an inference model of a static Program; return its input and result."""
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    path, x = str(MODELS / f"{build.__name__}_static"), values([3, *SHAPES[build]])
    with fresh_numbering(), static.program_guard(main, startup), static.scope_guard(scope):
        data = static.data("x", [None, *SHAPES[build]])
        layer = build()
        layer.eval()
        result = layer(data)
        executor = static.Executor()
        executor.run(startup)
        set_statistics(scope, main)
        static.save_inference_model(path, [data], [result], executor)
        tidy(path)
        program, feeds, fetches = static.load_inference_model(path, executor)
        (y,) = executor.run(program, feed={feeds[0]: x}, fetch_list=fetches)
    return {"static_x": x, "static_y": y}


def set_statistics(scope, program) -> None:
    """Give batch norms other statistics than 0 and 1."""
    for parameter in program.all_parameters():
        if not parameter.trainable:
            tensor = scope.find_var(parameter.name).get_tensor()
            tensor.set(np.abs(values(parameter.shape)) + 0.5, paddle.CPUPlace())


def save_from_layer(build) -> dict:
    """Save an inference model of an eager layer; return its input and result."""
    path, x = str(MODELS / f"{build.__name__}_jit"), values([3, *SHAPES[build]])
    with fresh_numbering():
        layer = build()
        layer.eval()
        spec = static.InputSpec([None, *SHAPES[build]], "float32", "x")
        paddle.jit.save(layer, path, input_spec=[spec])
    tidy(path)
    y = paddle.jit.load(path)(paddle.to_tensor(x)).numpy()
    state = {f"state/{name}": each.numpy() for name, each in layer.state_dict().items()}
    return {"jit_x": x, "jit_y": y} | state


def regression(x, y):
    """Return the loss of a linear regression trained by Adam."""
    loss = nn.MSELoss()(nn.Linear(4, 1)(x), paddle.cast(y, "float32"))
    paddle.optimizer.Adam(0.05).minimize(loss)
    return loss


def classification(x, y):
    """Return the loss of a convolutional network trained by Momentum, with decay and clip."""
    hidden = nn.MaxPool2D(2)(nn.ReLU()(nn.BatchNorm2D(4)(nn.Conv2D(1, 4, 3)(x))))
    loss = nn.CrossEntropyLoss()(nn.Linear(36, 3)(nn.Flatten()(hidden)), y)
    paddle.optimizer.Momentum(
        0.05,
        weight_decay=paddle.regularizer.L2Decay(0.01),
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    ).minimize(loss)
    return loss


def train(build, shape: list) -> None:
    """Write a training Program, what it starts from, what it is fed and how its loss falls."""
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    feed = {"x": values([6, *shape]), "y": np.arange(6, dtype=np.int64).reshape(6, 1) % 3}
    with fresh_numbering(), static.program_guard(main, startup), static.scope_guard(scope):
        x, y = static.data("x", [None, *shape]), static.data("y", [None, 1], "int64")
        loss = build(x, y)
        executor = static.Executor()
        executor.run(startup)
        before = persistable(main, scope)
        runs = [executor.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(STEPS)]
        after = persistable(main, scope)
    path = MODELS / f"train_{build.__name__}"
    for name, program in {"main": main, "startup": startup}.items():
        path.with_name(f"{path.name}.{name}.pb").write_bytes(serialised(program))
    arrays = {f"feed/{name}": each for name, each in feed.items()}
    arrays |= {f"before/{name}": each for name, each in before.items()}
    arrays |= {f"after/{name}": each for name, each in after.items()}
    np.savez(path.with_suffix(".npz"), losses=np.array(runs), loss=np.array(loss.name), **arrays)


def persistable(program, scope) -> dict:
    """Return the values of all persistable variables by name."""
    names = sorted(each.name for each in program.list_vars() if each.persistable)
    return {name: np.array(scope.find_var(name).get_tensor()) for name in names}


def main() -> None:
    repeatable()
    MODELS.mkdir(parents=True, exist_ok=True)
    for build in SHAPES:
        paddle.disable_static()
        paddle.seed(0)
        arrays = save_from_layer(build)
        paddle.enable_static()
        paddle.seed(0)
        np.savez(MODELS / f"{build.__name__}.npz", **arrays, **save_from_program(build))
    train(regression, [4])
    train(classification, [1, 8, 8])


if __name__ == "__main__":
    main()
