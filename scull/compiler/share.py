"""How a driver runs a kernel: by itself, or its chunks by the threads of the pool.

What threads share takes the addresses of a kernel and of its arrays from memory, in a function that
serves all kernels with as many. A thread of the pool has its own copies of what a kernel keeps of a
row, on its stack.
"""

from collections.abc import Collection, Sequence

from scull.compiler.assembly import Function
from scull.compiler.split import Code
from scull.compiler.stage import nbytes
from scull.runtime.entry import STATUS_WORDS
from scull.runtime.line import LINE

# Of functions that only call others: LLVM takes less time where it does not improve them.
AS_IT_STANDS = "nounwind noinline optnone"
DECLARED = "declare void @share(ptr, ptr, i64, i64, i64)"


def shared_head(most: int, edges: int) -> list[str]:
    """What a driver with so many arrays at its edges begins with, if it shares a kernel.

    That is memory for the addresses of a kernel and of `most` arrays, and how many threads there
    may be.
    """
    if not most:
        return []
    return [
        f"  %shared = alloca [{1 + most} x ptr]",
        f"  %most.at = getelementptr i64, ptr %table, i64 {2 + edges + STATUS_WORDS}",
        "  %most = load i64, ptr %most.at",
    ]


def share(f: Function, code: Code, names: Sequence[str], places: Sequence[str]) -> None:
    """Let threads run a kernel over its arrays `names` at `places`."""
    for n, place in enumerate([f"@{code.name}", *places]):
        at = f.value(f"getelementptr ptr, ptr %shared, i64 {n}")
        f.act(f"store ptr {place}, ptr {at}")
    given = f"i64 {code.chunks}, i64 {round(code.work)}, i64 %most"
    f.act(f"call void @share(ptr @{_name_of(code, names)}, ptr %shared, {given})")


def _rows_of(code: Code, names: Sequence[str]) -> dict[int, int]:
    """The bytes of those of its arrays that every thread has for itself, by their places."""
    rows = {array.name: nbytes(array) for array in code.rows}
    return {n: rows[name] for n, name in enumerate(names) if name in rows}


def _name_of(code: Code, names: Sequence[str]) -> str:
    own = "".join(f".{n}.{size}" for n, size in _rows_of(code, names).items())
    return f"share.{len(names)}{own}"


def shared_function(code: Code, names: Sequence[str]) -> str:
    """The function by which threads run some chunks of a kernel; `names` are of its arrays.

    It is the same for all kernels with as many arrays, of which each thread has the same for
    itself.
    """
    lines = [
        f"define internal void @{_name_of(code, names)}"
        f"(ptr %places, i64 %first, i64 %last, i64 %worker) {AS_IT_STANDS} {{",
        "entry:",
        "  %kernel = load ptr, ptr %places",
    ]
    for n in range(len(names)):
        lines.append(f"  %at{n} = getelementptr ptr, ptr %places, i64 {1 + n}")
        lines.append(f"  %x{n} = load ptr, ptr %at{n}")
    own = _rows_of(code, names)

    def run(replaced: Collection[int]) -> str:
        given = [f"ptr %{'own' if n in replaced else 'x'}{n}" for n in range(len(names))]
        return f"  call void %kernel({', '.join([*given, 'i64 %first', 'i64 %last'])})"

    if own:
        lines.append("  %main = icmp eq i64 %worker, 0")
        lines.append("  br i1 %main, label %plain, label %other")
        lines.append("other:")
        lines += [f"  %own{n} = alloca i8, i64 {size}, align {LINE}" for n, size in own.items()]
        lines += [run(own), "  ret void", "plain:"]
    return "\n".join([*lines, run(()), "  ret void", "}", ""])
