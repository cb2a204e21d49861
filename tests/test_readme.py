"""What README.md and README.zh.md say is so: their commands run, their example, their lists."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scull as paddle
from scull.core.absent import Absent
from scull.errors import UnsupportedError
from scull.flags import DEFAULTS, PADDLE

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.zh.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"`(paddle(?:\.\w+)+)`")
WORKS, LACKS = 2, 3  # which section of a page says what works, which what does not

# The commands too long to run here, each with what make runs for it; who tests that.
LONG = {
    "make demo": "scull demo",  # tests/cli/test_demo.py
    "make test": "-m pytest",  # this is part of it
    "make bench": "-m benchmarks",  # tests/benchmarks
}
SHORT = {
    ".venv/bin/python examples/first.py": [str(ROOT / "examples" / "first.py")],
    "SCULL_COMPILE=off .venv/bin/python examples/first.py": [str(ROOT / "examples" / "first.py")],
    ".venv/bin/scull doctor": ["-m", "scull", "doctor"],
}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code in one language."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def commands(page: Path) -> list[str]:
    """The commands of a page, without what is said of them."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line.partition(" #")[0].strip() for line in lines]


def section(page: Path, number: int) -> str:
    """The text under one of the headings of a page, from 1 on."""
    return page.read_text(encoding="utf-8").split("\n## ")[number]


def found(name: str) -> object:
    """What a name of Paddle's is here; None where it is not there or says that it is not."""
    value = paddle
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return None if isinstance(value, Absent) else value


def refuses(decorator: object) -> bool:
    """Whether what `decorator` makes of a function does no more than say that it is not there."""
    try:
        decorator(lambda: None)()
    except UnsupportedError:
        return True
    return False


@every_page
def test_a_page_opens_with_the_demo_and_the_tests(page):
    assert commands(page)[:2] == ["make demo", "make test"]


@every_page
def test_every_command_is_one_that_is_tested(page):
    assert set(commands(page)) == set(LONG) | set(SHORT)


@pytest.mark.parametrize("command", LONG)
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_has_the_target_and_runs_what_is_tested(command):
    dry = ["make", "--dry-run", f"PYTHON={sys.executable}", command.split()[1]]
    done = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert LONG[command] in done.stdout


@pytest.mark.parametrize("command", SHORT)
def test_a_short_command_succeeds_in_an_empty_folder(command, tmp_path):
    done = run(SHORT[command], tmp_path, **dict(re.findall(r"^(SCULL_\w+)=(\w+)", command)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout and list(tmp_path.iterdir()) == []


def run(arguments: list[str], folder: Path, **settings: str) -> subprocess.CompletedProcess:
    """A new Python in `folder`, which sees the tree through its path and the settings alone."""
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **settings},
        capture_output=True,
        text=True,
    )


@every_page
def test_the_example_is_the_file_and_both_modes_print_one_loss(page, tmp_path):
    (example,) = blocks(page, "python")
    text = (ROOT / "examples" / "first.py").read_text(encoding="utf-8")
    docstring, _, code = text.partition("\n\n")
    assert docstring.startswith('"""') and code == example
    assert sum(bool(line) for line in example.splitlines()) == 20
    path = tmp_path / "example.py"
    path.write_text(example, encoding="utf-8")
    match = re.fullmatch(
        r"eager (\d\.\d{8}), static (\d\.\d{8})\n", run([str(path)], tmp_path).stdout
    )
    eager, static = map(float, match.groups())
    assert eager < 0.001 and eager == pytest.approx(static, rel=1e-4)


@every_page
def test_what_is_said_to_work_is_there(page):
    names = NAME.findall(section(page, WORKS))
    assert len(names) > 20 and [name for name in names if found(name) is None] == []


@every_page
def test_what_is_said_to_be_missing_is_missing(page):
    names = NAME.findall(section(page, LACKS))
    there = [name for name in names if found(name) is not None and not refuses(found(name))]
    assert len(names) > 5 and there == []


def test_both_pages_name_the_same_things():
    first, second = (page.read_text(encoding="utf-8") for page in PAGES)
    assert NAME.findall(first) == NAME.findall(second)
    links = [set(re.findall(r"\]\(([^)]+)\)", text)) for text in (first, second)]
    assert links[0] ^ links[1] == {"README.md", "README.zh.md"}
    numbers = re.compile(r"\d+(?:\.\d+)+")
    assert sorted(numbers.findall(first)) == sorted(numbers.findall(second))


@every_page
def test_the_layout_names_packages_that_are_there(page):
    rows = re.findall(r"^\| (`.*?) \|", section(page, 4), re.MULTILINE)
    named = set(re.findall(r"`(\w+)(?:\.py)?`", " ".join(rows[1:])))
    assert len(named) > 15 and named <= {path.stem for path in (ROOT / "scull").iterdir()}


def test_the_pages_of_operators_quote_the_operator_as_it_is():
    source = (ROOT / "scull/ops/softmax.py").read_text(encoding="utf-8")
    quoted = blocks(ROOT / "docs" / "operators.md", "python")
    assert len(quoted) == 3 and all(block in source for block in quoted)


EXAMPLES = [
    (page, i)
    for page in (
        "executor",
        "devices",
        "control_flow",
        "to_static",
        "files",
        "compiler",
        "training",
    )
    for i in range(len(blocks(ROOT / "docs" / f"{page}.md", "python")))
]


@pytest.mark.parametrize(("page", "place"), EXAMPLES)
def test_the_examples_of_the_pages_of_the_docs_run(page, place, tmp_path):
    code = blocks(ROOT / "docs" / f"{page}.md", "python")[place]
    path = tmp_path / "example.py"
    path.write_text(code, encoding="utf-8")
    done = run([str(path)], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_of_the_executor_names_files_and_settings_that_are_there():
    text = (ROOT / "docs" / "executor.md").read_text(encoding="utf-8")
    files = re.findall(r"`(\w+\.py)`", text)
    assert len(files) > 10
    assert [name for name in files if not (ROOT / "scull/executor" / name).is_file()] == []
    assert set(re.findall(r"SCULL_(\w+)", text)) - {"DEBUG"} <= set(DEFAULTS)
    assert set(re.findall(r"`(FLAGS_\w+)`", text)) <= set(PADDLE)
