"""A saved model: its Program, the values of its variables put into a scope, its inputs and outputs.

What other frameworks write is refused by name.
"""

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from scull.core.meta import Kind
from scull.errors import FileError, MismatchError, UnsupportedError
from scull.files.program import program_of
from scull.files.tensor_stream import read_combined, read_separate
from scull.ir.operator import ForeignOp, Operator
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Scope, global_scope

FOREIGN = (  # how files of others begin
    (b"PK\x03\x04", "a ZIP archive, as PyTorch and Keras write them"),
    (b"\x89HDF", "an HDF5 file, as Keras writes them"),
    (b"\x80\x02", "a pickle, as PyTorch writes them"),
    (b"\x80\x04", "a pickle"),
    (b"{", "JSON, as newer releases of Paddle write Programs"),
    (b"\x08", "an ONNX model"),
)


class Model(NamedTuple):
    """A Program with the names it is fed and the variables it gives."""

    program: Program
    feeds: list[str]
    fetches: list[Variable]


def load_model(
    data: bytes,
    params: BinaryIO | str | None,
    where: str,
    scope: Scope | None = None,
    allow_ops: Iterable[str] = (),
) -> Model:
    """The model whose Program is `data`; its values go into `scope`, the global one when None.

    They are in a stream, or in a folder with a file a value; `where` says in messages where they
    were looked for. Operators with effects outside are refused but for the types in `allow_ops`.
    """
    refuse_foreign(data)
    program = program_of(data, allow_ops)
    wanted = persistables(program)
    if wanted:
        if params is None:
            raise FileError(
                f"the model needs the values of {len(wanted)} variables, and {where} is not there"
            )
        read: Any = read_separate if isinstance(params, str) else read_combined
        values = read(params, [v.name for v in wanted])
        into = scope or global_scope()
        for name, array in checked_values(values, wanted).items():  # nobody else has them
            into.var(name).value = array
    feeds, fetches = edges(program)
    return Model(program, feeds, fetches)


def refuse_foreign(data: bytes) -> None:
    """Refuse bytes that another framework wrote, by its name."""
    kind = next((text for start, text in FOREIGN if data.startswith(start)), None)
    if kind is not None:
        raise UnsupportedError(f"this is no Program of Paddle: it is {kind}")


def saved_variables(program: Program) -> list[Variable]:
    """The variables whose values are saved."""
    kinds = (Kind.FEED, Kind.FETCH, Kind.READER, Kind.RAW)
    found = {v.name: v for v in program.variables() if v.persistable and v.kind not in kinds}
    return list(found.values())


def persistables(program: Program) -> list[Variable]:
    """The variables whose values are saved, in the order of files, which is that of names."""
    return sorted(saved_variables(program), key=lambda v: v.name)


def put_values(values: dict[str, Any], scope: Scope | None = None) -> None:
    """Give the scope these arrays."""
    scope = scope or global_scope()
    for name, array in values.items():
        scope.var(name).value = np.array(array)


def checked_values(values: dict[str, Any], variables: list[Variable]) -> dict[str, Any]:
    """`values` when they have the shapes and dtypes of `variables`, as far as a file tells them."""
    for v in variables:
        if v.wire is not None and v.kind is Kind.DENSE and not v.wire.type.HasField("lod_tensor"):
            continue  # weights that a pass padded
        array = values[v.name]
        if array.dtype != v.meta.dtype.array or (v.shape != array.shape and -1 not in v.shape):
            raise MismatchError(
                f"the file holds {array.dtype}{list(array.shape)} for `{v.name}`, which is {v.meta}"
            )
    return values


def edges(program: Program) -> tuple[list[str], list[Variable]]:
    """The names a Program is fed and the variables it gives, by their feed and fetch operators."""
    feeds: dict[int, str] = {}
    fetches: dict[int, Variable] = {}
    for o in program.global_block().ops:
        if o.type == "feed":
            feeds[column(o, feeds)] = edge(o, o.results()).name
        elif o.type in ("fetch", "fetch_v2"):
            fetches[column(o, fetches)] = edge(o, o.operands())
    return [feeds[i] for i in sorted(feeds)], [fetches[i] for i in sorted(fetches)]


def column(o: Operator, taken: Mapping[int, Any]) -> int:
    """Which place an input or output has, which no other has."""
    number: int = o.spelt().get("col", 0)
    if number in taken:
        raise FileError(f"two operators `{o.type}` are number {number}")
    return number


def edge(o: Operator, variables: list[Variable]) -> Variable:
    """The one variable of an operator at an edge."""
    if len(variables) != 1 or isinstance(o.op, ForeignOp):
        raise FileError(f"an operator `{o.type}` is not of one variable")
    if variables[0].kind in (Kind.FEED, Kind.FETCH):
        raise FileError(f"an operator `{o.type}` is of `{variables[0].name}`, which is no value")
    return variables[0]
