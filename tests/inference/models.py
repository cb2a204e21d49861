"""Models that tests save and open."""

import warnings

import scull as paddle
from scull.inference import Config, create_predictor


def saved(folder, make, name="net"):
    """Where the model is whose inputs and outputs `make` gives."""
    path = str(folder / name)
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with (
            paddle.static.program_guard(main, startup),
            paddle.static.scope_guard(paddle.static.Scope()),
            paddle.utils.unique_name.guard(),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", "no variable in your model")
            paddle.seed(1)
            feeds, fetches = make()
            exe = paddle.static.Executor()
            exe.run(startup)
            paddle.static.save_inference_model(path, feeds, fetches, exe, program=main)
    finally:
        paddle.disable_static()
    return path


def data(name, shape, dtype="float32"):
    """An input."""
    return paddle.static.data(name, shape, dtype)


def opened(folder, make, *, without=(), **options):
    """A predictor of the model that `make` describes, `without` some passes."""
    config = Config(saved(folder, make))
    for name in without:
        config.delete_pass(name)
    return create_predictor(config, **options)


def perceptron():
    """Two linear layers: a row of steps."""
    x = data("x", [None, 4])
    hidden = paddle.nn.functional.relu(paddle.nn.Linear(4, 8)(x))
    return [x], [paddle.nn.Linear(8, 2)(hidden)]


def residual():
    """A convolution, its statistics, and a sum with what came before: no row."""
    x = data("x", [None, 2, None, None])
    norm = paddle.nn.BatchNorm2D(2)
    norm.eval()
    y = norm(paddle.nn.Conv2D(2, 2, 3, padding=1)(x))
    return [x], [paddle.nn.functional.relu(y + x), y.mean(axis=[2, 3])]


def loop():
    """Doubled as often as an input says."""
    x, n = data("x", [None, 3]), data("n", [1], "int64")
    i = paddle.zeros([1], "int64")
    _, y = paddle.static.nn.while_loop(
        lambda i, y: (i < n).all(), lambda i, y: [i + 1, y * 2.0], [i, x + 0.0]
    )
    return [x, n], [y]
