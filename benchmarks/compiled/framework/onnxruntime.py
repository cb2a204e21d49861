"""ONNX Runtime: predictions by a model written in the operators of ONNX."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnxruntime

from benchmarks.compiled.network import EPSILON, Vocabulary
from benchmarks.compiled.workload import Prediction

OPSET, IR = 20, 9
KINDS = {"float32": onnx.TensorProto.FLOAT, "int64": onnx.TensorProto.INT64}


class Onnx(Vocabulary):
    """Layers as nodes of a graph; values are names."""

    def __init__(self, values: list[Any]) -> None:
        source = iter(values)
        super().__init__(lambda p: self.constant(next(source)))
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        """An initializer."""
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """What a node gives."""
        names = [f"v{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def apply_linear(self, x: Any, w: Any, b: Any) -> Any:
        return self.node("Add", self.node("MatMul", x, w), b)

    def apply_convolution(
        self, x: Any, w: Any, b: Any, stride: int, padding: int, groups: int
    ) -> Any:
        given = (x, w) if b is None else (x, w, b)
        return self.node("Conv", *given, strides=[stride] * 2, pads=[padding] * 4, group=groups)

    def apply_batch_norm(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        return self.node("BatchNormalization", x, scale, bias, mean, variance, epsilon=EPSILON)

    def apply_layer_norm(self, x: Any, scale: Any, bias: Any) -> Any:
        return self.node("LayerNormalization", x, scale, bias, epsilon=EPSILON)

    def apply_embedding(self, tokens: Any, table: Any) -> Any:
        return self.node("Gather", table, tokens)

    def attend(self, packed: Any, heads: int, causal: bool) -> Any:
        assert not causal
        size = self.width(heads)  # which the last constant so far tells
        parts = [
            self.node("Reshape", part, self.constant(np.array([0, 0, heads, -1])))
            for part in self.node("Split", packed, outputs=3, axis=-1, num_outputs=3)
        ]
        q, k, v = (
            self.node("Transpose", x, perm=perm)
            for x, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scale = self.constant(np.float32(size**-0.5))
        scores = self.node("Mul", self.node("MatMul", q, k), scale)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        mixed = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.node("Reshape", mixed, self.constant(np.array([0, 0, -1])))

    def width(self, heads: int) -> int:
        """Of one head, by the last product's bias, which is the last constant."""
        return int(self.constants[-1].dims[0]) // 3 // heads

    def add(self, x: Any, y: Any) -> Any:
        return self.node("Add", x, y)

    def relu(self, x: Any) -> Any:
        return self.node("Relu", x)

    def relu6(self, x: Any) -> Any:
        return self.node("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def gelu(self, x: Any) -> Any:
        return self.node("Gelu", x)

    def tanh(self, x: Any) -> Any:
        return self.node("Tanh", x)

    def softmax(self, x: Any) -> Any:
        return self.node("Softmax", x, axis=-1)

    def first(self, x: Any) -> Any:
        return self.node("Gather", x, self.constant(np.array(0)), axis=1)

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return self.node(
            "MaxPool", x, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[padding] * 4
        )

    def mean_of_image(self, x: Any) -> Any:
        return self.node("Flatten", self.node("GlobalAveragePool", x))

    def flatten(self, x: Any) -> Any:
        return self.node("Flatten", x)


def model_of(work: Prediction) -> bytes:
    """The network as a file of ONNX."""
    f = Onnx(work.values)
    names = [f"x{n}" for n in range(len(work.inputs))]
    out = work.network(f, *names)
    info = onnx.helper.make_tensor_value_info
    inputs = [
        info(name, KINDS[str(x.dtype)], x.shape) for name, x in zip(names, work.inputs, strict=True)
    ]
    graph = onnx.helper.make_graph(
        f.nodes, "net", inputs, [info(out, onnx.TensorProto.FLOAT, None)], f.constants
    )
    opset = [onnx.helper.make_opsetid("", OPSET)]
    made = onnx.helper.make_model(graph, opset_imports=opset, ir_version=IR)
    return made.SerializeToString()  # type: ignore[no-any-return]


def prediction(work: Prediction, threads: int, form: str) -> Callable[[], Any]:
    """A prediction by a session, from NumPy to NumPy."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model_of(work), options)
    feed = {f"x{n}": x for n, x in enumerate(work.inputs)}
    return partial(session.run, None, feed)
