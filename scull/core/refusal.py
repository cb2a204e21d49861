"""Why a call is refused: the law it breaks, the operator, its operands and the user's line."""

import sys
from pathlib import Path
from typing import Any

from scull.core.attribute import normalised
from scull.core.memory import memory, size
from scull.core.meta import Meta, known
from scull.core.op import Op
from scull.core.operand import padded, refuse_strangers, strengthened, weak_meta
from scull.deferred import load
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    IndexDtypeError,
    RangeError,
    ResourceError,
    ScullError,
    ShapeError,
    is_located,
    located,
)

PACKAGE = str(Path(__file__).parent.parent) + "/"
NO_LAW = "these operands are refused where they are computed: "  # no type rule has said why
BUILTIN = {IndexError: RangeError, TypeError: ArgumentTypeError}  # else an ArgumentError
OURS = (  # no operand's fault
    Warning | NameError | AssertionError | ImportError | SyntaxError | RecursionError
)
KINDS: dict[type[Exception], str] = {  # the first that fits
    ResourceError: "ResourceExhausted",
    IndexDtypeError: "InvalidArgument",
    DtypeError: "NotFound",  # there is no kernel for it
    ShapeError: "InvalidArgument",
    RangeError: "InvalidArgument",
    ArgumentError: "InvalidArgument",
    ArgumentTypeError: "InvalidArgument",
}


def explained(
    error: Exception, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]
) -> Exception:
    """`error` with the operator, its operands and the user's line.

    The type rule, asked now, knows the law that was broken.
    """
    if is_located(error):
        return error
    metas: tuple[Any, ...] = ()
    try:
        refuse_strangers(op, inputs)
        metas = strengthened(tuple(map(weak_meta, padded(op, inputs))))
        normal = {n: normalised(op.kinds[n], n, v) for n, v in attrs.items() if n in op.kinds}
        found = cause(error, op, metas, normal)
    except ScullError as law:
        found = law
    return noted(found, situation(op, metas, user_line())).with_traceback(None)


def noted(error: Exception, where: str) -> Exception:
    """`error` with where it came up, in front the word by which Paddle's users know its kind."""
    kind = next((word for known, word in KINDS.items() if isinstance(error, known)), None)
    if kind is not None and error.args and not str(error).startswith(f"({kind})"):
        error.args = (f"({kind}) {error.args[0]}",)
    return located(error, where)


def cause(error: Exception, op: Op, metas: tuple[Any, ...], attrs: dict[str, Any]) -> Exception:
    """The law that a call breaks whose kernel raised `error`."""
    unsaid = op.kinds.keys() - attrs.keys() - op.attrs.keys()  # what a Variable holds
    if unsaid and isinstance(error, ScullError):
        return error
    try:
        results = op.infer(metas, attrs)
    except ScullError as law:
        return law
    except Exception as law:
        return error if isinstance(error, ScullError) else lawful(law, op)
    if isinstance(error, ScullError):
        return error
    each = [m for r in results for m in (r if isinstance(r, list) else [r])]
    for m in each:
        if isinstance(m, Meta) and known(m.shape) and size(m) > memory():
            return ResourceError(f"a result {m} takes {size(m)} bytes, more than there are")
    return lawful(error, op)


def refused(error: Exception, op: Op, attrs: dict[str, Any]) -> Exception:
    """Why a gradient could not be computed: its attributes, or what `error` says."""
    if isinstance(error, ScullError):
        return error
    try:
        for n, v in attrs.items():
            normalised(op.kinds[n], n, v)
    except ScullError as law:
        return law
    return lawful(error, op)


def lawful(error: Exception, op: Op) -> Exception:
    """`error` as one of scull's own; a slip of ours or of the user's Python stays what it is."""
    if isinstance(error, ScullError | OURS) or "python" in op.effects:
        return error
    found: Exception | None = load("scull.core.meaning", "meaning")(error)
    if found is not None:
        return found
    if isinstance(error, MemoryError):
        return ResourceError(f"there is not enough memory {error}".rstrip())
    kinds = [own for builtin, own in BUILTIN.items() if isinstance(error, builtin)]
    kind: type[ScullError] = kinds[0] if kinds else ArgumentError
    return kind(f"{NO_LAW}{type(error).__name__}: {error}")


def situation(op: Op, metas: tuple[Any, ...], line: str) -> str:
    """The operator, its operands and the line that called it, as errors show them."""
    rows = [
        f"  {n}: {', '.join(map(str, m)) if isinstance(m, list) else m}"
        for n, m in zip(op.inputs, metas, strict=False)
        if m is not None and m != []
    ]
    return "\n".join([f"in {op.name}", *rows, f"  at {line}"])


def is_ours(path: str) -> bool:
    """Whether a file is part of scull."""
    return path.startswith(PACKAGE)


def user_line() -> str:
    """File and line of the innermost frame that is not scull's."""
    frame: Any = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
