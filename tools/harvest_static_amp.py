"""Write tests/data/reference/static_amp.json: Programs of mixed precision by PaddlePaddle.

Run with the Python that has the reference installed, with PYTHONPATH=. from the root of the
checkout. It has no kernels of GPUs, and would cast nothing: its list of operators without kernels
of 16 bits is taken to be empty.
"""

import json
from pathlib import Path

import paddle
from paddle.base import core
from paddle.static.amp import fp16_lists

from tests.static.amp.networks import NETWORKS, lines, programs

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests" / "data" / "reference" / "static_amp.json"


def every_kernel(dtype):
    """What is not supported: nothing."""
    known = core.op_supported_infos("CPU", core.VarDesc.VarType.FP32)[0]
    return "GPU", set(), set(known)


def types(program):
    """The element types of the variables of a Program."""
    dense = core.VarDesc.VarType.LOD_TENSOR
    found = (v for b in program.blocks for v in b.vars.values() if v.type == dense)
    return {v.name: str(v.dtype).split(".")[-1] for v in found}


def listed(given):
    """The lists of an object, sorted."""
    return {n: sorted(getattr(given, n)) for n in ("white_list", "black_list", "gray_list")}


def main():
    """Record the Programs of all networks, and the lists."""
    fp16_lists._get_sys_unsupported_list = every_kernel
    paddle.enable_static()
    found = {}
    for build in NETWORKS:
        program, startup, _, _ = programs(paddle, build)
        found[build.__name__] = {
            "main": lines(program),
            "startup": lines(startup),
            "types": types(program),
        }
    customs = [({"softmax", "relu", "layer_norm"}, {"conv2d", "tanh"}), (None, None)]
    made = [fp16_lists.AutoMixedPrecisionLists(*custom) for custom in customs]
    older = paddle.static.amp.bf16.AutoMixedPrecisionListsBF16({"softmax"}, {"matmul", "relu"})
    names = ("bf16_list", "fp32_list", "gray_list")
    found["own lists"] = [listed(one) for one in made]
    found["own lists of bfloat16"] = {n: sorted(getattr(older, n)) for n in names}
    entries = ",\n".join(f"{json.dumps(n)}: {json.dumps(v)}" for n, v in found.items())
    TARGET.write_text(f"{{\n{entries}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
