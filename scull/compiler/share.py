"""How a driver runs a kernel: by itself, or its chunks by the threads of the pool.

What threads share takes its addresses from memory, in a function of its own. A thread of the pool
has its own copies of what a kernel keeps of a row, on its stack.
"""

from collections.abc import Sequence

from scull.compiler.assembly import Function
from scull.compiler.split import Code
from scull.compiler.stage import nbytes
from scull.runtime.entry import STATUS_WORDS
from scull.runtime.line import LINE

DECLARED = "declare void @share(ptr, ptr, i64, i64, i64)"


def shared_head(most: int, edges: int) -> list[str]:
    """What a driver with so many arrays at its edges begins with, if it shares a kernel.

    That is memory for the addresses of `most` arrays, and how many threads there may be.
    """
    if not most:
        return []
    return [
        f"  %shared = alloca [{most} x ptr]",
        f"  %most.at = getelementptr i64, ptr %table, i64 {2 + edges + STATUS_WORDS}",
        "  %most = load i64, ptr %most.at",
    ]


def share(f: Function, code: Code, places: Sequence[str]) -> None:
    """Let threads run a kernel over arrays at `places`."""
    for n, place in enumerate(places):
        at = f.value(f"getelementptr ptr, ptr %shared, i64 {n}")
        f.act(f"store ptr {place}, ptr {at}")
    given = f"i64 {code.chunks}, i64 {round(code.work)}, i64 %most"
    f.act(f"call void @share(ptr @{code.name}.share, ptr %shared, {given})")


def shared_function(code: Code, names: Sequence[str]) -> str:
    """The function by which threads run some chunks of a kernel; `names` are of its arrays."""
    rows = {array.name: array for array in code.rows}
    lines = [
        f"define internal void @{code.name}.share"
        "(ptr %places, i64 %first, i64 %last, i64 %worker) nounwind {",
        "entry:",
    ]
    for n in range(len(names)):
        lines.append(f"  %at{n} = getelementptr ptr, ptr %places, i64 {n}")
        lines.append(f"  %x{n} = load ptr, ptr %at{n}")
    own = [n for n, name in enumerate(names) if name in rows]

    def run(replaced: Sequence[int]) -> str:
        given = [f"ptr %{'own' if n in replaced else 'x'}{n}" for n in range(len(names))]
        return f"  call void @{code.name}({', '.join([*given, 'i64 %first', 'i64 %last'])})"

    if own:
        lines.append("  %main = icmp eq i64 %worker, 0")
        lines.append("  br i1 %main, label %plain, label %other")
        lines.append("other:")
        for n in own:
            size = nbytes(rows[names[n]])
            lines.append(f"  %own{n} = alloca i8, i64 {size}, align {LINE}")
        lines += [run(own), "  ret void", "plain:"]
    return "\n".join([*lines, run(()), "  ret void", "}", ""])
