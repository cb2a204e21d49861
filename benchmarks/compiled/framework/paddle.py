"""scull and PaddlePaddle: static Programs and predictors, by the API that both have."""

import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.compiled.network import EPSILON, MOMENTUM, Parameter, Vocabulary
from benchmarks.compiled.workload import ADAM_EPSILON, BETAS, DECAY, Fitted, Prediction, Training


class Paddle(Vocabulary):
    """Layers by Paddle's functions."""

    def __init__(self, paddle: Any, take: Callable[[Parameter], Any], training: bool) -> None:
        super().__init__(take)
        self.paddle, self.functional, self.training = paddle, paddle.nn.functional, training

    def apply_linear(self, x: Any, w: Any, b: Any) -> Any:
        return self.functional.linear(x, w, b)

    def apply_convolution(
        self, x: Any, w: Any, b: Any, stride: int, padding: int, groups: int
    ) -> Any:
        return self.functional.conv2d(x, w, b, stride, padding, groups=groups)

    def apply_batch_norm(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        return self.functional.batch_norm(
            x, mean, variance, scale, bias, self.training, 1 - MOMENTUM, EPSILON
        )

    def apply_layer_norm(self, x: Any, scale: Any, bias: Any) -> Any:
        return self.functional.layer_norm(x, scale.shape, scale, bias, EPSILON)

    def apply_embedding(self, tokens: Any, table: Any) -> Any:
        return self.functional.embedding(tokens, table)

    def attend(self, packed: Any, heads: int, causal: bool) -> Any:
        batch, length, width = packed.shape
        each = width // 3 // heads
        parts = packed.reshape([batch, length, 3, heads, each])
        q, k, v = self.paddle.unbind(parts, 2)
        mixed = self.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return mixed.reshape([batch, length, width // 3])

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def relu(self, x: Any) -> Any:
        return self.functional.relu(x)

    def relu6(self, x: Any) -> Any:
        return self.functional.relu6(x)

    def gelu(self, x: Any) -> Any:
        return self.functional.gelu(x)

    def tanh(self, x: Any) -> Any:
        return self.paddle.tanh(x)

    def softmax(self, x: Any) -> Any:
        return self.functional.softmax(x)

    def first(self, x: Any) -> Any:
        return x[:, 0]

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return self.functional.max_pool2d(x, size, stride, padding)

    def mean_of_image(self, x: Any) -> Any:
        return x.mean([2, 3])

    def flatten(self, x: Any) -> Any:
        return x.flatten(1)


class Built:
    """A Program of a network, its parameters as the workload says."""

    def __init__(self, paddle: Any, work: Fitted, training: bool) -> None:
        self.paddle, self.work = paddle, work
        self.created: list[Any] = []
        self.scope = paddle.static.Scope()
        paddle.enable_static()
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        self.executor = paddle.static.Executor()
        with paddle.static.program_guard(self.main, startup):
            self.feeds = [
                paddle.static.data(f"x{n}", list(x.shape), str(x.dtype))
                for n, x in enumerate(work.inputs)
            ]
            mixed = isinstance(work, Training) and work.mixed
            with paddle.amp.auto_cast(mixed, dtype="bfloat16"):
                self.out = work.network(Paddle(paddle, self.parameter, training), *self.feeds)
            if isinstance(work, Training):
                self.out = self.minimized(work)
        with paddle.static.scope_guard(self.scope):
            self.executor.run(startup)
        place = paddle.CPUPlace()
        for created, value in zip(self.created, work.values, strict=True):
            self.scope.find_var(created.name).get_tensor().set(value, place)
        self.feed = {f"x{n}": x for n, x in enumerate(work.inputs)}

    def parameter(self, p: Parameter) -> Any:
        """A parameter, whose values come later."""
        paddle = self.paddle
        zero = paddle.nn.initializer.Constant(0.0)
        made = paddle.create_parameter(list(p.shape), "float32", default_initializer=zero)
        made.stop_gradient = not p.trained
        made.trainable = p.trained
        self.created.append(made)
        return made

    def minimized(self, work: Training) -> Any:
        """The loss, which an optimizer makes smaller."""
        paddle, optimizer = self.paddle, self.paddle.optimizer
        label = paddle.static.data("label", [work.label.size, 1], "int64")
        logits = self.out.reshape([work.label.size, -1])
        loss = paddle.nn.functional.cross_entropy(logits, label)
        if work.optimizer == "momentum":
            optimizer.Momentum(work.rate, 0.9).minimize(loss)
        elif work.optimizer == "adam":
            optimizer.Adam(work.rate, *BETAS, ADAM_EPSILON).minimize(loss)
        else:
            adamw = optimizer.AdamW(work.rate, *BETAS, ADAM_EPSILON, weight_decay=DECAY)
            adamw.minimize(loss)
        return loss


def training(work: Training, threads: int, form: str) -> Callable[[], Any]:
    """A step of training by the Executor."""
    paddle = import_module(form)
    built = Built(paddle, work, True)
    feed = built.feed | {"label": work.label.reshape(-1, 1)}
    executor, main, out, scope = built.executor, built.main, [built.out], built.scope

    def step() -> Any:
        return executor.run(main, feed=feed, fetch_list=out, scope=scope)[0]

    return step


def predictor_of(work: Prediction, threads: int, form: str) -> Any:
    """A predictor of the network as it is saved and opened."""
    paddle = import_module(form)
    built = Built(paddle, work, False)
    with tempfile.TemporaryDirectory() as folder, paddle.static.scope_guard(built.scope):
        path = f"{folder}/net"
        paddle.static.save_inference_model(
            path, built.feeds, [built.out], built.executor, program=built.main
        )
        paddle.disable_static()
        config = paddle.inference.Config(f"{path}.pdmodel", f"{path}.pdiparams")
        config.set_cpu_math_library_num_threads(threads)
        config.disable_glog_info()
        return paddle.inference.create_predictor(config)


def prediction(work: Prediction, threads: int, form: str) -> Callable[[], Any]:
    """A prediction by a predictor, from NumPy to NumPy."""
    predictor = predictor_of(work, threads, form)
    if form == "scull":
        return partial(predictor, *work.inputs)
    handles = [predictor.get_input_handle(n) for n in predictor.get_input_names()]
    out = predictor.get_output_handle(predictor.get_output_names()[0])

    def predict() -> Any:
        for handle, x in zip(handles, work.inputs, strict=True):
            handle.copy_from_cpu(x)
        predictor.run()
        return out.copy_to_cpu()

    return predict
