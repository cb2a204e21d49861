"""The walk of CONTRIBUTING.md: the operator it declares passes every check of an operator."""

import importlib.util
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.core import op as core_op
from tests.ops import sample, slot
from tests.ops.case import cases
from tests.ops.check import CHECKS

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
TABLES = (core_op.by_name(), core_op.by_type(), sample.SAMPLES)


def files_of(page: str) -> dict[str, str]:
    """The code blocks of a page that name a file in their first line."""
    blocks = [textwrap.dedent(match.group(2)) for match in BLOCK.finditer(page)]
    named = [block.split("\n", 1) for block in blocks if block.startswith("# ")]
    return {first.removeprefix("# "): rest for first, rest in named}


def run_file(name: str, source: str, folder: Path) -> None:
    """Run the source of a file from a folder of its own."""
    path = folder / Path(name).name
    path.write_text(source, encoding="utf-8")
    module_name = f"walked_{name.removesuffix('.py').replace('/', '_')}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)


@pytest.fixture
def walked(tmp_path):
    """The operator of CONTRIBUTING.md, declared for the time of a test."""
    before = [dict(table) for table in TABLES]
    modules = set(sys.modules)
    files = files_of((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert list(files) == ["scull/ops/triangle.py", "tests/ops/samples/triangle.py"]
    try:
        for name, source in files.items():
            run_file(name, source, tmp_path)
        yield core_op.op_of("hypotenuse")
    finally:
        for table, kept in zip(TABLES, before, strict=True):
            table.clear()
            table.update(kept)
        for name in set(sys.modules) - modules:
            if name.startswith("walked_"):
                del sys.modules[name]


def test_the_operator_of_the_walk_passes_every_check(walked):
    found = cases(walked, sweep=True)
    tried = set()
    for title, check in CHECKS.items():
        for case in filter(check.applies, found):
            check.run(case)
            tried.add(title)
    slot.check_slots(walked)
    assert {"reference", "gradient", "second order", "lowering", "program", "refused"} <= tried


def test_the_operator_of_the_walk_has_a_gradient_at_once(walked):
    x = paddle.to_tensor(np.float32([3.0]), stop_gradient=False)
    out = walked.call(x, paddle.to_tensor(np.float32([4.0])))
    out.backward()
    assert (out.tolist(), x.grad.tolist()) == ([5.0], [pytest.approx(0.6)])


def test_the_walk_declares_no_operator_that_is_there_already():
    assert "hypotenuse" not in core_op.by_name()
