"""The size of every package in lines, beside its budget: `python tools/size.py` prints the table.

A file, a function or a package over its limit is an error: split it by meaning, or raise the budget
in the change that needs it and say why. Docstrings of functions and files of data do not count.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FILE = 500
FUNCTION = 50
TOTAL = 178_240

# Lines a package may have; the files directly in `scull/` are the package `.`.
BUDGETS = {
    ".": 980,
    "core": 3_860,
    "lang": 3_150,
    "ir": 2_400,
    "runtime": 4_780,
    "files": 5_640,
    "ops": 32_280,
    "autograd": 3_210,
    "compiler": 12_720,
    "eager": 2_120,
    "executor": 10_890,
    "tensor": 8_200,
    "nn": 15_050,
    "optimizer": 3_190,
    "io": 1_400,
    "static": 7_950,
    "cli": 2_000,
    "vision": 5_880,
    "hapi": 2_450,
    "distribution": 3_400,
    "framework": 1_700,
    "incubate": 6_240,
    "profiler": 3_450,
    "passes": 5_800,
    "inference": 1_700,
    "base": 1_450,
    "jit": 12_900,
    "amp": 1_400,
    "fft": 950,
    "audio": 1_170,
    "text": 830,
    "distributed": 2_260,
    "sparse": 3_380,
    "quantization": 1_600,
    "utils": 650,
}
OTHER = 600  # a package without a row of its own

CHECKED = ("scull", "tests", "tools", "examples", "benchmarks")
VAGUE_NAMES = {"utils", "common", "helpers"}
# Paddle's public names
PUBLIC = (
    "scull/utils/",
    "scull/nn/utils/",
    "scull/incubate/autograd/utils.py",
    "scull/jit/dy2static/utils.py",
)
APART = {"data", "golden"}  # folders of tables and recorded text


def sources(root: Path, *folders: str) -> Iterator[Path]:
    """The Python files in some folders of the tree, tables of data apart, in order."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if not APART & set(path.relative_to(root).parts):
                yield path


def lines(path: Path) -> int:
    """The number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def packages(root: Path) -> dict[str, dict[Path, int]]:
    """The files of every package of scull with their lines."""
    table: dict[str, dict[Path, int]] = {}
    for path in sources(root, "scull"):
        parts = path.relative_to(root / "scull").parts
        table.setdefault(parts[0] if len(parts) > 1 else ".", {})[path] = lines(path)
    return table


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function from its `def` on, its docstring apart."""
    end = function.end_lineno or function.lineno
    total = end - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return total
    docstring = function.body[0]
    return total - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def too_long(path: Path, name: str) -> Iterator[str]:
    """What in one file is over a limit, as `file:line: what`."""
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    if count > FILE:
        yield f"{name}: {count} lines, {FILE} are allowed"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = function_lines(node)
            if count > FUNCTION:
                yield f"{name}:{node.lineno}: {node.name} has {count} lines, {FUNCTION} are allowed"


def vague(name: str) -> Iterator[str]:
    """Whether a module or its package has a name that says nothing."""
    own = name.removeprefix(next((public for public in PUBLIC if name.startswith(public)), ""))
    if VAGUE_NAMES & set(own.removesuffix(".py").split("/")):
        yield f"{name}: a module is named after what it holds"


def over_budget(root: Path) -> Iterator[str]:
    """Each package over its budget, and scull over the whole one."""
    sizes = {package: sum(files.values()) for package, files in packages(root).items()}
    for package, size in sizes.items():
        budget = BUDGETS.get(package, OTHER)
        if size > budget:
            yield f"scull/{package}: {size} lines, {budget} are budgeted"
    total = sum(sizes.values())
    if total > TOTAL:
        yield f"scull: {total} lines, {TOTAL} are budgeted"


def complaints(root: Path) -> list[str]:
    """Everything in the tree that is over a limit or named vaguely."""
    found = []
    for path in sources(root, *CHECKED):
        name = path.relative_to(root).as_posix()
        found += [*too_long(path, name), *vague(name)]
    return found + list(over_budget(root))


def table(root: Path) -> str:
    """Lines, budget, files and largest file of every package, in the order of the budgets."""
    order = list(BUDGETS)
    found = packages(root)
    ranked = sorted(found, key=lambda name: (order.index(name) if name in order else 99, name))
    rows = [("package", "lines", "budget", "files", "largest", "file")]
    for package in ranked:
        files = found[package]
        largest = max(files, key=lambda path: files[path])
        numbers = (sum(files.values()), BUDGETS.get(package, OTHER), len(files), files[largest])
        rows.append((package, *map(str, numbers), largest.relative_to(root).as_posix()))
    every = [count for files in found.values() for count in files.values()]
    rows.append(("total", str(sum(every)), str(TOTAL), str(len(every)), str(max(every)), ""))
    return "\n".join(
        f"{row[0]:<14}" + "".join(f"{cell:>8}" for cell in row[1:5]) + f"  {row[5]}".rstrip()
        for row in rows
    )


if __name__ == "__main__":
    print(table(ROOT))
    wrong = complaints(ROOT)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    sys.exit(bool(wrong))
