"""PaddlePaddle 2.6.2 reads what scull writes; run with `SCULL_PADDLE_PYTHON` set to its Python."""

import json
import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from scull.files import pickles, wire
from scull.files.atomic import atomic_file
from scull.files.file_set import write_set
from scull.files.tensor_stream import read_combined, write_combined, write_separate, write_tensor

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
DATA = Path(__file__).parents[1] / "data" / "files"

pytestmark = pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no reference")


def reference(folder: Path, program: str) -> dict:
    """What the reference says of the files in a folder: the `answer` of a program run there."""
    text = f"import json, numpy as np, paddle\nanswer = {{}}\n{program}\nprint(json.dumps(answer))"
    command = [str(PYTHON), "-B", "-c", text]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def save(path: Path, value, protocol=4) -> None:
    with atomic_file(path) as stream:
        pickles.dump(value, stream, protocol, lambda tensor: ("name", tensor.numpy()))


class Tensor:
    """A stand-in for a Tensor."""

    def numpy(self):
        return np.array([1.5, 2.5], "float32")


def test_the_reference_loads_state_dicts_and_containers(tmp_path):
    state = {"weight": np.ones((2, 3), "float32"), "half": np.array([1, -2], ml_dtypes.bfloat16)}
    table = {"StructuredToParameterName@@": {"weight": "w_0", "half": "h_0"}}
    for protocol in (2, 3, 4):
        save(tmp_path / f"state_{protocol}", state | table, protocol)
        save(tmp_path / f"nested_{protocol}", {"a": [Tensor(), 1.5], "b": (1, None)}, protocol)
        pieces = pickles.in_pieces({"w": np.arange(10.0)}, size=24)
        save(tmp_path / f"pieces_{protocol}", pieces, protocol)
    answer = reference(
        tmp_path,
        "for p in (2, 3, 4):\n"
        "    state = paddle.load(f'state_{p}')\n"
        "    nested = paddle.load(f'nested_{p}')\n"
        "    pieces = paddle.load(f'pieces_{p}')\n"
        "    answer[p] = [\n"
        "        [[v.name, str(v.dtype), v.astype('float32').tolist()] for v in state.values()],\n"
        "        [nested['a'][0].name, nested['a'][0].tolist(), nested['a'][1], nested['b']],\n"
        "        pieces['w'].tolist()]",
    )
    expected = [
        [
            ["w_0", "paddle.float32", [[1.0] * 3] * 2],
            ["h_0", "paddle.bfloat16", [1.0, -2.0]],
        ],
        ["name", [1.5, 2.5], 1.5, [1, None]],
        list(np.arange(10.0)),
    ]
    assert answer == {"2": expected, "3": expected, "4": expected}


def test_the_reference_runs_a_model_whose_program_and_parameters_scull_wrote(tmp_path):
    arrays = np.load(DATA / "convolution.npz")
    message = wire.read_program((DATA / "convolution.pdmodel").read_bytes())
    with open(DATA / "convolution.pdiparams", "rb") as stream:
        parameters = read_combined(stream, arrays.files)
    with open(DATA / "convolution.pdiparams.info", "rb") as stream:
        information = pickles.load(stream)
    write_set(
        tmp_path / "model",
        {
            ".pdmodel": lambda stream: stream.write(wire.write_program(message)),
            ".pdiparams": lambda stream: write_combined(stream, parameters),
            ".pdiparams.info": lambda stream: pickles.dump(information, stream, 2),
        },
    )
    run = (
        "x = np.arange(64, dtype='float32').reshape(1, 1, 8, 8) / 64\n"
        "answer = paddle.jit.load({!r})(paddle.to_tensor(x)).tolist()"
    )
    found = reference(tmp_path, run.format("model"))
    assert found == reference(DATA, run.format("convolution")) and len(found[0]) == 5


def test_the_reference_loads_tensors(tmp_path):
    values = {
        "w": np.arange(6, dtype="float32").reshape(2, 3),
        "scalar": np.array(3, "int64"),
        "empty": np.zeros((0, 2), "float64"),
        "half": np.array([1, -2], ml_dtypes.bfloat16),
    }
    write_separate(tmp_path, values)
    with atomic_file(tmp_path / "levels") as stream:
        write_tensor(stream, np.zeros((3, 1), "float32"), [[0, 1, 3]])
    answer = reference(
        tmp_path,
        "for name in ('w', 'scalar', 'empty', 'half'):\n"
        "    value = paddle.load(name)\n"
        "    answer[name] = [str(value.dtype), value.shape, value.astype('float32').tolist()]\n"
        "tensor = paddle.base.core.LoDTensor()\n"
        "paddle.base.core.load_lod_tensor(tensor, 'levels')\n"
        "answer['levels'] = tensor.lod()",
    )
    assert answer.pop("levels") == [[0, 1, 3]]
    assert answer == {
        name: [f"paddle.{value.dtype}", list(value.shape), value.astype("float32").tolist()]
        for name, value in values.items()
    }


def test_the_reference_describes_the_messages_as_scull_does(tmp_path):
    from_file = (Path(wire.__file__).parent / "data" / "framework.desc").read_bytes()
    (tmp_path / "framework.desc").write_bytes(from_file)
    answer = reference(
        tmp_path,
        "from google.protobuf import descriptor_pb2\n"
        "from paddle.base.proto import framework_pb2\n"
        "ours = descriptor_pb2.FileDescriptorSet.FromString(open('framework.desc','rb').read())\n"
        "theirs = descriptor_pb2.FileDescriptorProto()\n"
        "framework_pb2.DESCRIPTOR.CopyToProto(theirs)\n"
        "answer = list(ours.file[0].message_type) == list(theirs.message_type)\n"
        "answer = answer and list(ours.file[0].enum_type) == list(theirs.enum_type)",
    )
    assert answer is True
