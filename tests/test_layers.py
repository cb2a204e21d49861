"""A package imports only from the rows above it, and no import hides in a function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Each row knows the rows above it. Packages of one row do not know each other.
ROWS = (
    "errors flags version deferred",
    "core",
    "lang ir runtime",
    "files",
    "autograd",
    "ops",
    "compiler",
    "eager passes",
    "executor",
    "inference profiler",
    "amp audio callbacks cost_model dataset decomposition device distributed distribution fft"
    " framework geometric hapi hub incubate io jit linalg metric nn onnx optimizer quantization"
    " random reader regularizer signal sparse static tensor text utils vision",
    "scull",  # the whole of it, as a user imports it
    "base fluid _C_ops cli common_ops_import",
)
ROW = {name: row for row, names in enumerate(ROWS) for name in names.split()}
OPEN_ROWS = {ROW["nn"], ROW["base"]}  # the public API and the older doors import their siblings

# Where a function may load what is heavy or asked for by name.
LAZY = ("deferred.py", "runtime/llvm.py", "cli/", "utils/__init__.py", "compat.py")
LOADERS = {"import_module", "__import__"}
CACHES = {"cache", "lru_cache"}


def target_of(module: str) -> str:
    """The package of scull a module belongs to, or scull as a whole."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """The packages of scull that one statement or call imports."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        children = [alias.name for alias in node.names if alias.name in ROW]
        rest = [module] * (len(children) < len(node.names))
        modules = [f"scull.{name}" for name in children] + rest if module == "scull" else [module]
    elif loads(node) and node.args and isinstance(node.args[0], ast.Constant):
        modules = [str(node.args[0].value)]
    else:
        return
    yield from (target_of(name) for name in modules if name.split(".")[0] == "scull")


def loads(node: ast.AST) -> bool:
    """Whether this is a call of `importlib.import_module` or its like."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", None))
    return name in LOADERS


def foreign(call: ast.Call) -> bool:
    """Whether a call certainly loads something that is not scull's."""
    name = call.args[0] if call.args else None
    first = name.values[0] if isinstance(name, ast.JoinedStr) else name
    text = first.value if isinstance(first, ast.Constant) else "scull"
    return text.split(".")[0] != "scull"


def decorators(function: ast.AST) -> set[str]:
    """The names of the decorators of a function."""
    found = [getattr(node, "func", node) for node in getattr(function, "decorator_list", [])]
    return {getattr(node, "attr", getattr(node, "id", "")) for node in found}


def statements(tree: ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Every import with whether it hides in a function.

    A module's `__getattr__` hides nothing, and a cached function may load another's library.
    """
    pending: list[tuple[ast.AST, bool, bool]] = [(node, False, False) for node in tree.body]
    while pending:
        node, hidden, cached = pending.pop(0)
        if loads(node):
            yield node, hidden and not (cached and foreign(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node, hidden
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            hidden = hidden or not (node in tree.body and node.name == "__getattr__")
            cached = cached or bool(CACHES & decorators(node))
        pending += [(child, hidden, cached) for child in ast.iter_child_nodes(node)]


def law_broken(own: str, other: str) -> str | None:
    """Why a package may not import another, if it may not."""
    if own not in ROW:
        return f"{own} is not in the table of layers"
    if other not in ROW:
        return f"{other} is not in the table of layers"
    if own == other or ROW[other] < ROW[own]:
        return None
    if ROW[other] > ROW[own]:
        return f"{own} imports {other}, which is below it"
    return None if ROW[own] in OPEN_ROWS else f"{own} imports {other}, its sibling"


def violations(source: str, name: str) -> list[str]:
    """The laws a file breaks, each as `file:line: law`; `name` is its path from the top."""
    path = Path(name)
    package = list(path.parent.parts)
    own = package[1] if len(package) > 1 else path.stem
    free = len(package) == 1 and own not in ROW  # such as scull/__init__.py
    lazy = name.removeprefix("scull/").startswith(LAZY)
    found = []
    for node, hidden in statements(ast.parse(source)):
        if hidden and not lazy:
            found.append((node.lineno, "an import inside a function"))
        laws = [] if free else [law_broken(own, other) for other in imported(node, package)]
        found += [(node.lineno, law) for law in laws if law]
    return [f"{name}:{line}: {law}" for line, law in sorted(set(found))]


def test_every_package_imports_only_from_the_rows_above():
    files = sorted((ROOT / "scull").rglob("*.py"))
    found = []
    for path in files:
        found += violations(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    assert files and found == []


def test_every_package_has_a_row():
    folders = {path.parent.name for path in (ROOT / "scull").glob("*/*.py")}
    assert folders and folders <= set(ROW)


@pytest.mark.parametrize(
    ("name", "source", "law"),
    [
        ("core/meta.py", "from scull.ops import relu", "core imports ops, which is below it"),
        ("core/meta.py", "from scull import ops", "core imports ops, which is below it"),
        ("core/meta.py", "from .. import ops", "core imports ops, which is below it"),
        ("core/meta.py", "from ..ops.math import add", "core imports ops, which is below it"),
        ("core/__init__.py", "from ..ops import add", "core imports ops, which is below it"),
        ("core/meta.py", "import scull.ops.math as m", "core imports ops, which is below it"),
        ("errors.py", "from scull import core", "errors imports core, which is below it"),
        ("errors.py", "from . import flags", "errors imports flags, its sibling"),
        ("ir/block.py", "from scull.lang import sum", "ir imports lang, its sibling"),
        ("nn/layer.py", "import scull", "nn imports scull, which is below it"),
        ("nn/layer.py", "from scull import to_tensor", "nn imports scull, which is below it"),
        ("nn/layer.py", "from scull.cli import main", "nn imports cli, which is below it"),
        ("ops/math.py", "from scull.misc import x", "misc is not in the table of layers"),
        ("misc/shape.py", "from scull import errors", "misc is not in the table of layers"),
        (
            "ir/block.py",
            "if TYPE_CHECKING:\n    from scull import ops",
            "ir imports ops, which is below it",
        ),
        (
            "ir/block.py",
            "ops = importlib.import_module('scull.ops')",
            "ir imports ops, which is below it",
        ),
        ("io/loader.py", "def f():\n    import queue", "an import inside a function"),
        ("io/loader.py", "class A:\n  def f(self):\n    import os", "an import inside a function"),
        ("io/loader.py", "async def f():\n    from os import path", "an import inside a function"),
        ("io/loader.py", "f = lambda: __import__('os')", "an import inside a function"),
        ("io/loader.py", "def f():\n    import_module('os')", "an import inside a function"),
        ("__init__.py", "def f():\n    from scull import nn", "an import inside a function"),
        ("files/a.py", "@cache\ndef f():\n    import os", "an import inside a function"),
        (
            "files/a.py",
            "@cache\ndef f():\n    import_module('scull.errors')",
            "an import inside a function",
        ),
        ("files/a.py", "@cache\ndef f(x):\n    import_module(x)", "an import inside a function"),
        (
            "io/loader.py",
            "class A:\n  def __getattr__(self, name):\n    import os",
            "an import inside a function",
        ),
    ],
)
def test_a_broken_law_is_reported_with_its_line(name, source, law):
    line = source.count("\n") + 1
    assert violations(source, f"scull/{name}") == [f"scull/{name}:{line}: {law}"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (
            "ops/math.py",
            "import numpy\nfrom scull.core import Meta\nfrom scull import errors, lang",
        ),
        (
            "ops/math.py",
            "from .reduce import sum\nfrom ..core.meta import Meta\nfrom . import pool",
        ),
        ("nn/layer.py", "from scull import io, tensor\nfrom scull.static import data"),
        ("fluid/layers.py", "import scull\nfrom scull.base import core"),
        ("cli/demo.py", "import scull as paddle\nfrom scull import nn, to_tensor"),
        ("__init__.py", "from scull.cli import main\nfrom . import nn, core"),
        ("onnx/__init__.py", "def __getattr__(name):\n    return importlib.import_module('onnx')"),
        (
            "files/a.py",
            "@functools.cache\ndef f():\n    importlib.import_module('google.protobuf')",
        ),
        ("files/a.py", "@lru_cache(1)\ndef f(x):\n    return import_module(f'google.{x}')"),
        ("runtime/llvm.py", "def binding():\n    import llvmlite.binding"),
        ("cli/__init__.py", "def main():\n    importlib.import_module('scull.cli.doctor')"),
    ],
)
def test_a_lawful_file_is_left_alone(name, source):
    assert violations(source, f"scull/{name}") == []
