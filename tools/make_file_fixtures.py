"""Write the small files of tests/data/files with the reference package.

Run it with the Python that has PaddlePaddle 2.6.2 and NumPy below 2:

    PYTHONHASHSEED=0 $SCULL_PADDLE_PYTHON tools/make_file_fixtures.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import paddle
from paddle.base import core
from paddle.base.proto import framework_pb2

HERE = Path(__file__).resolve().parent.parent
TARGET = HERE / "tests" / "data" / "files"


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    paddle.seed(7)
    np.random.seed(7)
    eager_files()
    inference_model("linear", linear_net())
    inference_model("convolution", convolution_net())
    paddle.enable_static()
    training_program()
    attributes_program()
    static_files()
    tensor_streams()
    sizes = sum(path.stat().st_size for path in TARGET.iterdir())
    print(f"{sizes} bytes in {TARGET}", file=sys.stderr)


def linear_net():
    return paddle.nn.Linear(4, 3), [None, 4]


def convolution_net():
    layers = (
        paddle.nn.Conv2D(1, 2, 3),
        paddle.nn.BatchNorm2D(2),
        paddle.nn.ReLU(),
        paddle.nn.MaxPool2D(2),
        paddle.nn.Flatten(),
        paddle.nn.Linear(18, 5),
    )
    return paddle.nn.Sequential(*layers), [None, 1, 8, 8]


def eager_files():
    """State dicts and nested containers, in every protocol."""
    net, _ = convolution_net()
    save_with_arrays("eager.pdparams", net.state_dict())
    optimizer, scheduler = trained_optimizer(net)
    save_with_arrays("eager.pdopt", optimizer.state_dict())
    nested = {
        "weight": net[0].weight,
        "list": [1, -2, 1.5, None, True, "name", 1 << 40],
        "tuple": (np.float32(0.5), np.arange(3), {"deep": [net[5].bias]}),
        "scalar": np.int64(3),
        "fortran": np.asfortranarray(np.arange(6, dtype="float32").reshape(2, 3)),
    }
    for protocol in (2, 3, 4):
        paddle.save(nested, str(TARGET / f"nested_{protocol}.pickle"), protocol=protocol)
        paddle.save(net.state_dict(), str(TARGET / f"state_{protocol}.pickle"), protocol=protocol)
    paddle.save(net[5].bias, str(TARGET / "tensor.pickle"))
    paddle.save(scheduler.state_dict(), str(TARGET / "scheduler.pickle"))
    masters = optimizer.state_dict() | {"master_weights": {"linear_0.b_0": net[5].bias}}
    paddle.save(masters, str(TARGET / "master_weights.pickle"))
    half = net[5].weight.astype("bfloat16")
    paddle.save({"half": half}, str(TARGET / "bfloat16.pickle"))


def trained_optimizer(net):
    scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
    optimizer = paddle.optimizer.Adam(scheduler, parameters=net.parameters())
    for _ in range(3):
        net(paddle.randn([2, 1, 8, 8])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        scheduler.step()
    return optimizer, scheduler


def save_with_arrays(name, state):
    """The file as `paddle.save` writes it, and beside it the arrays it must hold."""
    paddle.save(state, str(TARGET / name))
    arrays = {
        key: value.numpy() for key, value in state.items() if isinstance(value, paddle.Tensor)
    }
    np.savez(TARGET / f"{name}.npz", **arrays)


def inference_model(name, net_and_shape):
    net, shape = net_and_shape
    net.eval()
    spec = paddle.static.InputSpec(shape, "float32", "image")
    paddle.jit.save(net, str(TARGET / name), input_spec=[spec])
    save_program(f"{name}.pdmodel", (TARGET / f"{name}.pdmodel").read_bytes())
    arrays = {value.name: value.numpy() for value in net.state_dict().values()}
    np.savez(TARGET / f"{name}.npz", **arrays)


def training_program():
    """A `while` around a `cond`, its gradients and an optimizer."""
    main_program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main_program, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 4])
        ids = paddle.static.data("ids", [None, 1], "int64")
        rows = paddle.static.nn.embedding(ids, [8, 4], is_sparse=True)
        hidden = paddle.static.nn.fc(x, 4) + rows.mean()
        count = paddle.full([1], 0, "int64")
        limit = paddle.full([1], 3, "int64")

        def step(count, hidden):
            positive = hidden.mean() > 0
            halved = paddle.static.nn.cond(positive, lambda: hidden * 0.5, lambda: hidden + 1.0)
            return count + 1, halved

        _, result = paddle.static.nn.while_loop(lambda i, _: i < limit, step, [count, hidden])
        paddle.optimizer.Adam(0.01).minimize(result.mean())
    for name, program in (("training", main_program), ("startup", startup)):
        save_program(f"{name}.program", program.desc.serialize_to_string())


def save_program(name, data):
    (TARGET / name).write_bytes(stripped(data))


def stripped(data):
    """The Program as the reference writes it, without the lines of this script it remembers."""
    message = framework_pb2.ProgramDesc.FromString(data)
    for op in (op for block in message.blocks for op in block.ops):
        kept = [attribute for attribute in op.attrs if attribute.name != "op_callstack"]
        del op.attrs[:]
        op.attrs.extend(kept)
    return core.ProgramDesc(message.SerializeToString()).serialize_to_string()


ATTRIBUTES = {
    "int": ("INT", -3),
    "float": ("FLOAT", 0.1),
    "string": ("STRING", "text é"),
    "ints": ("INTS", [1, -2]),
    "floats": ("FLOATS", [0.5, 0.1]),
    "strings": ("STRINGS", ["a", ""]),
    "boolean": ("BOOLEAN", True),
    "booleans": ("BOOLEANS", [True, False]),
    "long": ("LONG", -(1 << 40)),
    "longs": ("LONGS", [1 << 40, 0]),
    "float64s": ("FLOAT64S", [0.1, -1e300]),
    "float64": ("FLOAT64", 0.1),
    "var": ("VAR", "x"),
    "vars": ("VARS", ["x", "y"]),
    "block": ("BLOCK", 1),
    "blocks": ("BLOCKS", [1, 2]),
    "scalar_boolean": ("SCALAR", True),
    "scalar_long": ("SCALAR", -7),
    "scalar_float64": ("SCALAR", 0.1),
    "scalar_complex": ("SCALAR", complex(1.5, -2.0)),
    "scalars": ("SCALARS", [1, 2.5]),
}


def attributes_program():
    """One operator with an attribute of each type."""
    message = framework_pb2.ProgramDesc()
    for index in range(3):
        message.blocks.add(idx=index, parent_idx=index - 1)
    for name in ("x", "y"):
        message.blocks[0].vars.add(name=name).type.type = framework_pb2.VarType.RAW
    op = message.blocks[0].ops.add(type="every_kind")
    for name, (kind, value) in ATTRIBUTES.items():
        put(op.attrs.add(name=name, type=getattr(framework_pb2, kind)), kind, value)
    message.version.version = 0
    save_program("attributes.program", message.SerializeToString())
    pairs = {
        name: [kind, repr(value) if isinstance(value, complex) else value]
        for name, (kind, value) in ATTRIBUTES.items()
    }
    (TARGET / "attributes.json").write_text(json.dumps(pairs, indent=1, ensure_ascii=False) + "\n")


FIELDS = {
    "INT": "i",
    "FLOAT": "f",
    "STRING": "s",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
    "BOOLEAN": "b",
    "BOOLEANS": "bools",
    "BLOCK": "block_idx",
    "LONG": "l",
    "BLOCKS": "blocks_idx",
    "LONGS": "longs",
    "FLOAT64S": "float64s",
    "VAR": "var_name",
    "VARS": "vars_name",
    "FLOAT64": "float64",
}


def put(attribute, kind, value):
    if kind == "SCALAR":
        put_scalar(attribute.scalar, value)
    elif kind == "SCALARS":
        for item in value:
            put_scalar(attribute.scalars.add(), item)
    elif isinstance(value, list):
        getattr(attribute, FIELDS[kind]).extend(value)
    else:
        setattr(attribute, FIELDS[kind], value)


def put_scalar(message, value):
    kinds = framework_pb2.Scalar
    if isinstance(value, bool):
        message.type, message.b = kinds.BOOLEAN, value
    elif isinstance(value, int):
        message.type, message.i = kinds.LONG, value
    elif isinstance(value, float):
        message.type, message.r = kinds.FLOAT64, value
    else:
        message.type, message.c.r, message.c.i = kinds.COMPLEX128, value.real, value.imag


def static_files():
    """What `static.save` writes, and a loose tensor of a scope within a container."""
    main_program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main_program, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 4])
        paddle.optimizer.Adam(0.01).minimize(paddle.static.nn.fc(x, 2).mean())
        executor = paddle.static.Executor()
        executor.run(startup)
        paddle.static.save(main_program, str(TARGET / "static"))
        tensor = paddle.static.global_scope().find_var("fc_0.b_0").get_tensor()
        paddle.save({"list": [tensor, 1]}, str(TARGET / "scope_tensor.pickle"))
    (TARGET / "static.pdmodel").unlink()


ARRAYS = {
    "bool": np.array([True, False, True]),
    "uint8": np.array([[0, 255]], "uint8"),
    "int8": np.array([-128, 127], "int8"),
    "int16": np.array([-300, 300], "int16"),
    "int32": np.array([[[7]]], "int32"),
    "int64": np.array([1 << 40, -1], "int64"),
    "float16": np.array([0.5, 65504], "float16"),
    "bfloat16": np.array([0x3F80, 0xC000], "uint16"),  # one and minus two
    "float32": np.arange(6, dtype="float32").reshape(2, 3),
    "float64": np.array([0.1]),
    "complex64": np.array([1 + 2j], "complex64"),
    "complex128": np.array([1 - 2j], "complex128"),
    "zero_dimensional": np.array(3.5, "float32"),
    "empty": np.zeros((0, 3), "int64"),
}


def tensor_streams():
    """Each dtype as one stream, one with levels of detail, and rows."""
    for name, array in ARRAYS.items():
        (TARGET / f"{name}.tensor").write_bytes(core.save_lod_tensor_to_memory(dense(array)))
    levels = dense(np.arange(6, dtype="float32").reshape(6, 1))
    levels.set_lod([[0, 2], [0, 1, 6]])
    (TARGET / "levels.tensor").write_bytes(core.save_lod_tensor_to_memory(levels))
    rows = core.SelectedRows([1, 4, 1], 7)
    rows.get_tensor().set(np.arange(6, dtype="float32").reshape(3, 2), paddle.CPUPlace())
    (TARGET / "rows.tensor").write_bytes(core.save_selected_rows_to_memory(rows))


def dense(array):
    tensor = core.LoDTensor()
    tensor.set(array, paddle.CPUPlace())
    return tensor


if __name__ == "__main__":
    main()
