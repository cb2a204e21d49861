"""Write programs/: Programs of the reference, printed and serialised, for golden tests.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the files are. Each builder fills the default Programs, or returns Programs by name.
"""

import sys

import paddle
import paddle.nn.functional as F
from harvest_describe import fresh_numbering
from harvest_types import REFERENCE, repeatable
from paddle import nn, static
from paddle.base import unique_name
from paddle.base.layer_helper import LayerHelper

ORDERS = ("first", "second", "third")


def regression() -> None:
    data = static.data("data", [16, 16])
    label = static.data("label", [16, 1])
    loss = nn.MSELoss()(nn.Linear(16, 1)(data), label)
    paddle.optimizer.Adam().minimize(loss)


def convolution() -> None:
    image = static.data("image", [None, 3, 32, 32])
    hidden = static.nn.conv2d(image, num_filters=64, filter_size=3)
    paddle.optimizer.Adam(learning_rate=0.001).minimize(paddle.mean(hidden))


def classifier(is_test: bool):
    """Build the network that a train and a test Program share."""
    x = static.data("x", [None, 4])
    y = static.data("y", [None, 1], "int64")
    hidden = F.dropout(static.nn.fc(x, 8, activation="relu"), 0.5, training=not is_test)
    logits = static.nn.fc(hidden, 3)
    return F.cross_entropy(logits, y), static.accuracy(F.softmax(logits), y)


def shared() -> dict:
    train, test, startup = static.Program(), static.Program(), static.Program()
    with unique_name.guard(), static.program_guard(train, startup):
        loss, _ = classifier(is_test=False)
        paddle.optimizer.SGD(0.1).minimize(loss)
    with unique_name.guard(), static.program_guard(test, startup):
        classifier(is_test=True)
    return {"train": train, "test": test, "startup": startup}


def plus_one() -> None:
    x = static.data("x", [2, 3])
    x + 1


def append_sum() -> None:
    block = static.default_main_program().global_block()
    parts = [static.data(name, [2, 3]) for name in ("a", "b", "c")]
    total = block.create_var(name="total", dtype="float32")
    block.append_op(type="sum", inputs={"X": parts}, outputs={"Out": total})


def append_split() -> None:
    block = static.default_main_program().global_block()
    x = static.data("x", [6, 4])
    parts = [block.create_var(name=f"part_{i}", dtype="float32") for i in range(3)]
    attrs = {"num": 3, "axis": 0}
    block.append_op(type="split", inputs={"X": x}, outputs={"Out": parts}, attrs=attrs)


def custom_layer() -> None:
    x = static.data("x", [None, 3, 8, 8])
    helper = LayerHelper("conv2d")
    weight = helper.create_parameter(attr=None, shape=[4, 3, 3, 3], dtype="float32")
    bias = helper.create_parameter(attr=None, shape=[4], dtype="float32", is_bias=True)
    hidden = helper.create_variable_for_type_inference("float32")
    inputs = {"Input": x, "Filter": weight}
    helper.append_op(type="conv2d", inputs=inputs, outputs={"Output": hidden})
    out = helper.create_variable_for_type_inference("float32")
    inputs = {"X": hidden, "Y": bias}
    helper.append_op(type="elementwise_add", inputs=inputs, outputs={"Out": out}, attrs={"axis": 1})


def two_embeddings() -> None:
    words = static.data("words", [4], "int64")
    places = static.data("places", [4], "int64")
    product = paddle.multiply(nn.Embedding(10, 3)(words), nn.Embedding(6, 3, sparse=True)(places))
    static.append_backward(paddle.sum(F.relu(product)))


def static_layers() -> None:
    image = static.data("image", [None, 1, 8, 8])
    word = static.data("word", [None, 1], "int64")
    label = static.data("label", [None, 1])
    hidden = static.nn.conv2d(image, num_filters=4, filter_size=3, act="relu")
    hidden = static.nn.batch_norm(hidden)
    embedded = static.nn.embedding(word, size=[20, 5])
    joined = paddle.concat([static.nn.fc(hidden, 5), paddle.reshape(embedded, [-1, 5])], axis=1)
    loss = paddle.mean(F.square_error_cost(static.nn.fc(joined, 1), label))
    paddle.optimizer.Momentum(
        0.1,
        momentum=0.9,
        weight_decay=paddle.regularizer.L2Decay(0.01),
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    ).minimize(loss)


def third_derivative() -> None:
    x = static.data("x", [2, 3])
    x.stop_gradient = False
    y = paddle.tanh(x)
    for _ in ORDERS:
        (y,) = static.gradients(y, x)


def convolutional_network() -> dict:
    image = static.data("image", [None, 1, 8, 8])
    label = static.data("label", [None, 1], "int64")
    layers = nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1),
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    logits = layers(image)
    loss, softmax = F.softmax_with_cross_entropy(logits, label, return_softmax=True)
    static.accuracy(softmax, label)
    loss = paddle.mean(loss)
    test = static.default_main_program().clone(for_test=True)
    schedule = paddle.optimizer.lr.StepDecay(0.01, step_size=10, gamma=0.5)
    paddle.optimizer.AdamW(schedule, weight_decay=0.02).minimize(loss)
    return {"test": test}


def branch() -> None:
    x = static.data("x", [3])
    x.stop_gradient = False
    w = static.create_parameter([3], "float32", name="w")
    y = static.nn.cond(paddle.sum(x) > 0, lambda: x * w, lambda: w - x)
    static.append_backward(paddle.mean(y))


def loop() -> None:
    x = static.data("x", [3])
    w = static.create_parameter([3], "float32", name="w")
    count = paddle.zeros([1], "int64")
    limit = paddle.full([1], 3, "int64")
    _, y = static.nn.while_loop(lambda i, _: i < limit, lambda i, y: [i + 1, y * w], [count, x * w])
    static.append_backward(paddle.mean(y))


BUILDERS = (
    regression,
    convolution,
    shared,
    plus_one,
    append_sum,
    append_split,
    custom_layer,
    two_embeddings,
    static_layers,
    third_derivative,
    convolutional_network,
    branch,
    loop,
)


def serialised(program) -> bytes:
    """Return the bytes of a Program after taking `op_callstack` from its operators."""
    for block in program.blocks:
        for operator in block.ops:
            operator.desc.remove_attr("op_callstack")
    return program.desc.serialize_to_string()


def write(builder) -> None:
    """Build one example and write its Programs."""
    main, startup = static.Program(), static.Program()
    with fresh_numbering(), static.program_guard(main, startup):
        programs = builder() or {}
    programs = {"main": main, "startup": startup} | programs
    for name, program in programs.items():
        if not any(block.ops for block in program.blocks):
            continue
        path = REFERENCE / "programs" / f"{builder.__name__}.{name}"
        path.with_suffix(f"{path.suffix}.pb").write_bytes(serialised(program))
        path.with_suffix(f"{path.suffix}.txt").write_text(str(program), encoding="utf-8")


def main() -> None:
    repeatable()
    paddle.enable_static()
    (REFERENCE / "programs").mkdir(parents=True, exist_ok=True)
    for builder in BUILDERS:
        if len(sys.argv) < 2 or builder.__name__ in sys.argv[1:]:
            write(builder)


if __name__ == "__main__":
    main()
