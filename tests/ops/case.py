"""One sample of one operator, ready to be computed in every way."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import ml_dtypes
import numpy as np

import scull.eager
import scull.ops
import tests.ops.samples
from scull.core import session
from scull.core.attribute import normalised
from scull.core.dtype import of_array
from scull.core.eager import kernel_for
from scull.core.op import Op, as_outputs, by_name
from scull.core.operand import meta_or_none, padded
from scull.core.random import Draw
from scull.core.tensor import Rows, Tensor
from scull.errors import DtypeError
from scull.ir.verify_dataflow import PRIMITIVES
from tests.ops.sample import SAMPLES, Sample

for package in (scull.ops, tests.ops.samples):
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")

DRAW = Draw(7, 0)  # what random kernels draw from when called directly
SEED = 7


@dataclass(frozen=True, eq=False)
class Case:
    """Sample `number` of `op`; `dtype` is what its float32 inputs were turned into."""

    op: Op
    number: int
    sample: Sample
    dtype: str = ""

    def __str__(self) -> str:
        return f"{self.op.name}-{self.number}" + (f"-{self.dtype}" if self.dtype else "")

    @cached_property
    def attrs(self) -> dict[str, Any]:
        """All attributes in the form kernels see."""
        given = {**self.op.attrs, **self.sample.attrs}
        return {n: normalised(self.op.kinds[n], n, v) for n, v in given.items()}

    def inputs(self) -> tuple[Any, ...]:
        """The inputs, absent ones included; nobody can write into them."""
        return padded(self.op, self.sample.inputs)

    def metas(self) -> tuple[Any, ...]:
        """What is known of the inputs."""
        return tuple(map(meta_or_none, self.inputs()))

    def kernel(self, inputs: tuple[Any, ...], out: Any = None) -> tuple[Any, ...]:
        """The results of the kernel for plain arrays: one entry an output."""
        options = {"draw": DRAW} if "random" in self.op.effects else {}
        if out is not None:
            options["out"] = out if len(self.op.outputs) != 1 else out[0]
        found = kernel_for(self.op, list(inputs))(*inputs, **self.attrs, **options)
        return tuple(map(as_arrays, as_outputs(self.op, found)))

    @cached_property
    def results(self) -> tuple[Any, ...]:
        """What the kernel makes of the inputs."""
        return self.kernel(self.inputs())

    def eager(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results of a call with Tensors, as Tensors."""
        session.generator().manual_seed(SEED)
        return as_outputs(self.op, self.op.call(*inputs, **self.attrs))

    def in_double(self) -> "Case":
        """The same with all floating-point inputs in float64."""
        return replace(self, sample=replaced(self.sample, double))


def replaced(sample: Sample, change: Any) -> Sample:
    """`sample` with each of its arrays changed."""
    return replace(sample, inputs=tuple(mapped(change, x) for x in sample.inputs))


def has_rows(values: Any) -> bool:
    """Whether one of `values` is row-sparse, or one in a list of them."""
    return any(has_rows(x) if isinstance(x, list) else isinstance(x, Rows) for x in values)


def mapped(change: Any, x: Any) -> Any:
    """`change` of an array, or of each in a list; anything else as it is."""
    if isinstance(x, list):
        return [mapped(change, v) for v in x]
    if isinstance(x, Rows):
        return Rows(x.rows, change(x.values), x.height)
    return change(x) if isinstance(x, np.ndarray) else x


def double(x: Any) -> Any:
    """`x` in float64 or complex128, if it is of floating-point elements."""
    if x.dtype.kind == "c":
        return x.astype("complex128")
    return x.astype("float64") if of_array(x.dtype).is_float else x


def as_arrays(found: Any) -> Any:
    """A result as an array, or as it is when it is none."""
    if isinstance(found, list | tuple):
        return [as_arrays(v) for v in found]
    return found if found is None or isinstance(found, Rows) else np.asarray(found)


def flat(values: Any) -> Iterator[Any]:
    """The arrays among `values`, those of lists in line, those of rows as whole matrices."""
    for x in values:
        if isinstance(x, list | tuple):
            yield from flat(x)
        elif isinstance(x, Tensor):
            yield from flat([x.array])
        elif isinstance(x, Rows):
            yield x.dense()
        elif x is not None:
            yield x


# Operators with blocks, of lists of tensors and of dataflow are of Programs alone: they have no
# eager call, and Programs prove them (tests/static/test_control_flow*.py, tests/executor).
OF_LISTS = {
    "array_length",
    "array_to_lod_tensor",
    "beam_search_decode",
    "empty_list",
    "lod_tensor_to_array",
    "read_from_array",
    "select_output",
    "tensor_array_to_tensor",
    "tensor_array_to_tensor_grad",
    "write_to_array",
}


def declared() -> list[Op]:
    """Every declared operator, in order of its name; gradients belong to their operators."""
    return sorted((op for op in by_name().values() if op.forward is None), key=lambda op: op.name)


def operators() -> list[Op]:
    """Those of them that can be called with Tensors."""
    alone = OF_LISTS | PRIMITIVES
    return [op for op in declared() if not op.has_blocks and op.name not in alone]


LOWER = {"float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def cases(op: Op, sweep: bool) -> list[Case]:
    """The cases of `op`: one of each kind, or all and each float32 one in other element types."""
    made = [Case(op, i, s) for i, s in enumerate(SAMPLES[op.name]())] if op.name in SAMPLES else []
    if sweep:
        return made + [c for case in made for c in in_other_dtypes(case)]
    return list({case.sample.kind: case for case in reversed(made)}.values())[::-1]


def single_as(dtype: Any, x: Any) -> Any:
    """`x` in `dtype`, if it is in float32; what is too large becomes infinite."""
    with np.errstate(over="ignore"):
        return x.astype(dtype) if x.dtype == "float32" else x


def in_other_dtypes(case: Case) -> Iterator[Case]:
    """The case with its float32 inputs in each other type that the type rule allows."""
    if case.sample.error or not any(x.dtype == "float32" for x in flat(case.sample.inputs)):
        return
    for name, dtype in LOWER.items():
        other = replace(
            case,
            dtype=name,
            sample=replaced(case.sample, partial(single_as, dtype)),
        )
        try:
            case.op.infer(other.metas(), other.attrs)
        except DtypeError:
            continue
        yield other


def as_tensor(x: Any) -> Tensor:
    """An array as a Tensor that needs no gradient."""
    return Tensor(x)
