"""Random operators as 1.8 wrote them: numbers of the shape, the type and the range asked for."""

from typing import Any

import numpy as np
import pytest

from scull import static
from scull.files import proto
from scull.files.program import program_of

NUMBER = {"float32": proto.VarType.FP32, "int64": proto.VarType.INT64}
SHAPE = [40, 30]
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("uniform_random", "float32", {"min": -2.0, "max": 3.0}),
    ("gaussian_random", "float32", {"mean": 0.5, "std": 2.0}),
    ("truncated_gaussian_random", "float32", {"mean": 0.5, "std": 1.25}),
    ("randint", "int64", {"low": -2, "high": 3}),
]


def message_of(type: str, dtype: str, attrs: dict[str, Any]) -> Any:
    message = proto.ProgramDesc()
    message.version.version = 1_008_005
    block = message.blocks.add(idx=0, parent_idx=-1)
    variable = block.vars.add(name="out").type
    variable.type = proto.VarType.LOD_TENSOR
    variable.lod_tensor.tensor.data_type = NUMBER[dtype]
    variable.lod_tensor.tensor.dims[:] = SHAPE
    operator = block.ops.add(type=type)
    operator.outputs.add(parameter="Out").arguments.append("out")
    operator.attrs.add(name="shape", type=proto.LONGS).longs.extend(SHAPE)
    for name, value in ({"seed": 7, "dtype": int(NUMBER[dtype])} | attrs).items():
        if isinstance(value, int):
            operator.attrs.add(name=name, type=proto.INT, i=value)
        else:
            operator.attrs.add(name=name, type=proto.FLOAT, f=value)
    return message


@pytest.mark.parametrize(("type", "dtype", "attrs"), CALLS, ids=[c[0] for c in CALLS])
def test_random_numbers_are_of_the_distribution_that_the_file_asks_for(type, dtype, attrs):
    program = program_of(message_of(type, dtype, attrs).SerializeToString())
    (x,) = static.Executor().run(program, fetch_list=["out"], scope=static.Scope())
    assert list(x.shape) == SHAPE and x.dtype == dtype
    assert abs(x.mean() - (0.5 if dtype == "float32" else 0.0)) < 0.25
    low, high = x.min(), x.max()
    if type == "uniform_random":
        assert -2 <= low < -1.9 and 2.9 < high < 3
    elif type == "randint":
        assert set(np.unique(x)) == {-2, -1, 0, 1, 2}
    elif type == "truncated_gaussian_random":
        assert -2 <= low < -1.9 and 2.9 < high <= 3
    else:
        assert 1.8 < x.std() < 2.2
