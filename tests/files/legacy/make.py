"""Make the files of older releases that tests read, and what PaddlePaddle 2.6.2 computes of them.

Run from the root of the repository by a Python that has PaddlePaddle 2.6.2:

    python -m tests.files.legacy.make

Every Program is built by hand, message by message, in the types and attributes of 1.8, and noted as
written by 1.8.5. The reference reads these bytes and runs them; `data/operators.npz` holds them
with its results. The inputs are those of the cases. What operators computed that it has no longer,
the cases say in NumPy.
"""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle.base.proto import framework_pb2 as proto

from tests.files.legacy import network
from tests.files.legacy.case import Case
from tests.files.legacy.cases import cases

DATA = Path(__file__).parent / "data"
RELEASE = 1_008_005
KINDS: dict[Any, tuple[str, str]] = {
    bool: ("BOOLEAN", "b"),
    int: ("INT", "i"),
    float: ("FLOAT", "f"),
    str: ("STRING", "s"),
}
LISTS = {int: ("INTS", "ints"), float: ("FLOATS", "floats"), bool: ("BOOLEANS", "bools")}
ELEMENTS = {
    "bool": "BOOL",
    "int32": "INT32",
    "int64": "INT64",
    "float32": "FP32",
    "float64": "FP64",
    "uint8": "UINT8",
    "int8": "INT8",
}


def set_attribute(message: Any, name: str, value: Any) -> None:
    """Describe one attribute."""
    message.name = name
    if isinstance(value, list):
        kind, field = LISTS[type(value[0]) if value else int]
        message.type = getattr(proto, kind)
        getattr(message, field).extend(value)
    else:
        kind, field = KINDS[type(value)]
        message.type = getattr(proto, kind)
        setattr(message, field, value)


def add_variable(
    block: Any, name: str, dtype: str, shape: Any, *, persistable: bool = False
) -> Any:
    """Describe one variable."""
    made = block.vars.add(name=name, persistable=persistable)
    made.type.type = proto.VarType.LOD_TENSOR
    tensor = made.type.lod_tensor.tensor
    tensor.data_type = getattr(proto.VarType, ELEMENTS[dtype])
    tensor.dims.extend(shape)
    made.type.lod_tensor.lod_level = 0
    return made


def add_operator(block: Any, type: str, inputs: Any, outputs: Any, **attrs: Any) -> Any:
    """Describe one operator: names by slot, then attributes."""
    made = block.ops.add(type=type)
    for slots, filled in ((inputs, made.inputs), (outputs, made.outputs)):
        for slot, names in slots.items():
            filled.add(parameter=slot).arguments.extend(
                [names] if isinstance(names, str) else names
            )
    for name, value in attrs.items():
        if name == "sub_block":
            number = value - network.BLOCK + 1
            made.attrs.add(name=name, type=proto.BLOCK, block_idx=number)
        else:
            set_attribute(made.attrs.add(), name, value)
    return made


def new_program() -> tuple[Any, Any]:
    """A Program of 1.8.5 and its block."""
    program = proto.ProgramDesc()
    program.version.version = RELEASE
    block = program.blocks.add(idx=0, parent_idx=-1, forward_block_idx=-1)
    return program, block


def message_of(case: Case, shapes: dict[str, Any]) -> Any:
    """The Program of a case; results have the shapes that are known."""
    program, block = new_program()
    inputs: dict[str, list[str]] = {}
    for name, x in case.feed().items():
        known = [-1 if case.unknown and i > 1 else n for i, n in enumerate(x.shape)]
        add_variable(block, name, str(x.dtype), known, persistable=name in case.same.values())
        inputs.setdefault(name.split(".")[0], []).append(name)
    outputs: dict[str, list[str]] = {}
    for slot, dtype in case.outputs.items():
        name = case.result(slot)
        if slot not in case.same:
            add_variable(block, name, dtype, shapes.get(slot, []))
        outputs.setdefault(slot.split(".")[0], []).append(name)
    add_operator(block, case.type, inputs, outputs, **case.attrs)
    if case.version:
        pair = program.op_version_map.pair.add(op_name=case.type)
        pair.op_version.version = case.version
    return program


def run(message: Any, feed: dict[str, Any], fetch: list[str]) -> list[Any]:
    """What the reference computes of the bytes of a Program."""
    program = paddle.static.Program.parse_from_string(message.SerializeToString())
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        found = executor.run(program, feed=feed, fetch_list=fetch, return_numpy=False)
        return [np.array(x) for x in found]


def results_of(case: Case) -> dict[str, Any]:
    """What the case computes, by slot."""
    slots = case.fetched()
    if case.expected is not None:
        found = case.expected(*case.feed().values())
        found = found if isinstance(found, tuple) else (found,)
    else:
        names = [case.result(s) for s in slots]
        found = run(message_of(case, {}), case.feed(), names)
    pairs = zip(slots, found, strict=False)
    return {slot: np.asarray(x).astype(case.outputs[slot]) for slot, x in pairs}


def operators() -> None:
    """Write all cases into one file."""
    arrays: dict[str, Any] = {}
    for case in cases():
        results = results_of(case)
        message = message_of(case, {s: x.shape for s, x in results.items()})
        arrays[case.name] = np.frombuffer(message.SerializeToString(), "uint8")
        for slot, x in results.items():
            arrays[f"{case.name}/{case.result(slot)}"] = x
    pack(DATA / "operators.npz", arrays)


def pack(path: Path, arrays: dict[str, Any]) -> None:
    """Write many small arrays as one of bytes, and an index of where each lies."""
    index, data = {}, b""
    for name, x in arrays.items():
        index[name] = [str(x.dtype), list(x.shape), len(data)]
        data += np.ascontiguousarray(x).tobytes()
    text = json.dumps(index, separators=(",", ":")).encode()
    parts = {"index": np.frombuffer(text, "uint8"), "data": np.frombuffer(data, "uint8")}
    np.savez_compressed(path, **parts)


def network_message() -> Any:
    """The Program of the network."""
    program, block = new_program()
    for name, kind in (("feed", "FEED_MINIBATCH"), ("fetch", "FETCH_LIST")):
        block.vars.add(name=name, persistable=True).type.type = getattr(proto.VarType, kind)
    for name, x in network.values().items():
        add_variable(block, name, str(x.dtype), x.shape, persistable=True)
    for name, shape in network.SHAPES.items():
        add_variable(block, name, "uint8" if name == "mask" else "float32", shape)
    for type, inputs, outputs, attrs in network.operators():
        add_operator(block, type, inputs, outputs, **attrs)
    return program


def networks() -> None:
    """Write the network in every layout, and what the reference computes of each."""
    program, values = network_message().SerializeToString(), network.values()
    tensors = {name: network.tensor_bytes(x) for name, x in values.items()}
    answers = []
    for folder, (model, parameters) in network.LAYOUTS.items():
        path = DATA / folder
        path.mkdir(exist_ok=True)
        (path / model).write_bytes(program)
        if parameters is None:
            for name, data in tensors.items():
                (path / name).write_bytes(data)
        else:
            (path / parameters).write_bytes(b"".join(tensors[n] for n in sorted(tensors)))
        answers.append(answer_of(path, model, parameters))
    assert all((x == answers[0]).all() for x in answers)
    np.save(DATA / "network.npy", answers[0])


def answer_of(path: Path, model: str, parameters: str | None) -> Any:
    """What the reference computes of the network in a folder."""
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(
            str(path), executor, model_filename=model, params_filename=parameters
        )
        (found,) = executor.run(program, {feeds[0]: network.image()}, fetches)
    return found


def flows() -> None:
    """Write Programs with loops and branches, and what the reference computes of them."""
    arrays: dict[str, Any] = {}
    for name, flow in (("loop", network.loop()), ("choice", network.choice())):
        program, block = new_program()
        for i, (variables, operators) in enumerate(zip(flow["vars"], flow["ops"], strict=True)):
            block = program.blocks.add(idx=i, parent_idx=0) if i else block
            for variable, (dtype, shape) in variables.items():
                if dtype == "scopes":
                    block.vars.add(name=variable).type.type = proto.VarType.STEP_SCOPES
                else:
                    add_variable(block, variable, dtype, shape)
            for type, inputs, outputs, attrs in operators:
                add_operator(block, type, inputs, outputs, **attrs)
        arrays[name] = np.frombuffer(program.SerializeToString(), "uint8")
        found = run(program, flow["feed"], flow["fetch"])
        arrays |= {f"{name}/{k}": x for k, x in zip(flow["fetch"], found, strict=True)}
    pack(DATA / "flows.npz", arrays)


def states() -> None:
    """Write the values as 1.8 wrote those of training Programs and of layers."""
    values, moments = network.values(), network.moments()
    names = {"weight": "fc_0.w_0", "bias": "fc_0.b_0"}
    layer = {key: values[name] for key, name in names.items()}
    table = {"StructuredToParameterName@@": names}
    kept = {"StructuredToParameterName@@": {name: name for name in moments}}
    pickles = {
        "train.pdparams": values,
        "train.pdopt": moments,
        "layer.pdparams": layer | table,
        "layer.pdopt": moments | {"global_step": np.array([7], "int64")} | kept,
    }
    for name, value in pickles.items():
        (DATA / name).write_bytes(pickle.dumps(value, protocol=2))
    (DATA / "train.pdmodel").write_bytes(network_message().SerializeToString())
    small = {"fc_0.b_0": values["fc_0.b_0"]}
    (DATA / "python2.pdparams").write_bytes(network.python_2(small))
    for name in (*pickles, "python2.pdparams"):
        assert paddle.load(str(DATA / name), return_numpy=True)


def checkpoints() -> None:
    """Write what the reference says each version of an operator brought: attributes it defaults."""
    found: dict[str, list[dict[str, Any]]] = {}
    for type, version in sorted(paddle.base.core.get_op_version_map().items()):
        if type != "for_pybind_test__":
            steps = [s.version_desc().infos() for s in version.checkpoints()]
            assert len(steps) == version.version_id()
            found[type] = [dict(filter(None, map(default_of, infos))) for infos in steps]
    (DATA / "checkpoints.json").write_text(json.dumps(found, indent=0) + "\n")


def default_of(change: Any) -> tuple[str, Any] | None:
    """The attribute that a change brings, and what it is where a file does not say."""
    if str(change.type()).rpartition(".")[2] not in ("kNewAttr", "kModifyAttr"):
        return None
    try:
        return change.info().name(), change.info().default_value()
    except TypeError:  # it has none
        return None


if __name__ == "__main__":
    paddle.enable_static()
    DATA.mkdir(exist_ok=True)
    operators()
    networks()
    flows()
    states()
    checkpoints()
