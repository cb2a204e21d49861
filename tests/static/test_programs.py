"""The Programs of `tools/harvest_programs.py`, as scull builds them and as the reference did."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scull.files import wire
from scull.files.program import program_of
from scull.ir.verify import verify

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "tests" / "data" / "reference" / "programs"
NAMES = sorted({p.name.split(".")[0] for p in REFERENCE.glob("*.txt")})
TEXTS = sorted(REFERENCE.glob("*.txt"))

NOT_OURS = {
    "third_derivative.main": (
        "Paddle has a tanh_triple_grad of its own; scull derives the third derivative"
    ),
}
ORDER = {
    "convolutional_network.main": (
        "Paddle makes the result of a biased convolution before its parts"
    ),
}
CONDITIONS = {
    "branch.main": (
        "what is computed of a condition has no gradient; Paddle notes that of some operators only"
    ),
}
# What a block touches, Paddle writes in the order of a set, which is another in every process.
SETS = {"while": ("X", "Out"), "while_grad": ("X", "Out", "X@GRAD")}
SETS["conditional_block"] = ("Input", "Out")
SETS["conditional_block_grad"] = ("Input", "Out", "Out@GRAD", "Input@GRAD")
BARE = {"conditional_block_grad": ("op_namescope", "op_role_var", "with_quant_attr")}
HINTS = ("use_cudnn",)  # of another device; scull writes what Paddle's functional API writes
COMPARED = [p for p in TEXTS if p.stem not in NOT_OURS]

BUILD = """
import base64, json, sys
import scull.compat
scull.compat.install()
import paddle
import harvest_programs as h
from paddle import static
from scull.files.program import bytes_of
paddle.enable_static()
found = {}
for name in sys.argv[1:]:
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        programs = getattr(h, name)() or {}
    for kind, program in ({"main": main, "startup": startup} | programs).items():
        data = base64.b64encode(bytes_of(program)).decode()
        found[f"{name}.{kind}"] = [str(program), data]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def built():
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tools'}"}
    done = subprocess.run(
        [sys.executable, "-c", BUILD, *NAMES], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", COMPARED, ids=lambda p: p.stem)
def test_a_program_prints_as_the_reference_prints_it(path, built):
    ours, wanted = built[path.stem][0].splitlines(), path.read_text().splitlines()
    if path.stem in ORDER:
        ours, wanted = variables_sorted(ours), variables_sorted(wanted)
    if path.stem in CONDITIONS:
        ours, wanted = without_conditions(ours), without_conditions(wanted)
    assert list(map(sets_sorted, ours)) == list(map(sets_sorted, wanted))


def without_conditions(lines):
    """The lines without the flags of variables that are no floating-point numbers."""
    pattern = re.compile(r"(dtype\((?:bool|int32)\))\.stop_gradient\(\w+\)")
    return [pattern.sub(r"\1", line) for line in lines]


def sets_sorted(line):
    """The line of an operator, the names in its sets in order."""
    found = re.search(r"\} = (\w+)\(", line)
    for slot in SETS.get(found[1], ()) if found else ():
        held = re.search(rf"(?<![\w@]){slot}=\[(.*?)\]", line)
        line = line.replace(held[0], f"{slot}=[{', '.join(sorted(held[1].split(', ')))}]")
    return line


def variables_sorted(lines):
    """The lines of a Program, those of variables first and by their text."""
    return sorted(lines, key=lambda line: (" : " not in line, " : " in line and line))


@pytest.mark.parametrize("path", COMPARED, ids=lambda p: p.stem)
def test_a_saved_program_equals_the_references_field_by_field(path, built):
    ours = fields(base64.b64decode(built[path.stem][1]))
    wanted = fields(path.with_suffix(".pb").read_bytes())
    if path.stem in CONDITIONS:
        for block in (*ours, *wanted):
            block["vars"] = {n: v[:-1] for n, v in block["vars"].items()}
    assert ours == wanted


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_a_recorded_program_is_legal(path, built):
    verify(program_of(base64.b64decode(built[path.stem][1])))


def fields(data):
    """Variables, operators, slots and attributes of a Program, `op_callstack` apart."""
    message = wire.read_program(data)
    return [
        {
            "vars": {v.name: variable_fields(v) for v in block.vars},
            "ops": [operator_fields(o) for o in block.ops],
        }
        for block in message.blocks
    ]


def variable_fields(v):
    """What is said of a variable; what is left out is its default."""
    dense, rows = v.type.lod_tensor, v.type.selected_rows
    inner = rows if v.type.HasField("selected_rows") else dense.tensor
    flags = (v.persistable, v.need_check_feed, v.is_parameter, v.stop_gradient)
    return v.type.type, inner.data_type, list(inner.dims), dense.lod_level, flags


def operator_fields(o):
    def named(slot):
        return (
            sorted(slot.arguments) if slot.parameter in SETS.get(o.type, ()) else [*slot.arguments]
        )

    return {
        "type": o.type,
        "inputs": {p.parameter: named(p) for p in o.inputs},
        "outputs": {p.parameter: named(p) for p in o.outputs},
        "attrs": {
            a.name: wire.attribute_value(a)
            for a in o.attrs
            if a.name not in ("op_callstack", *HINTS, *BARE.get(o.type, ()))
        },
    }
