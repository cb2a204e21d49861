"""What every test can ask for: golden texts, and the options of the command line."""

import gc
import itertools
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"
FINISHED = itertools.count(1)  # tests of this process

os.environ["SCULL_COMPILE"] = "off"  # tests of machine code say so: kernels repeat to the bit

# The same examples in every run, and no limit of time on any of them.
settings.register_profile("scull", deadline=None, derandomize=True)
settings.load_profile("scull")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden texts")
    parser.addoption("--sweep", action="store_true", help="every sample and dtype of an operator")
    parser.addoption("--nightly", action="store_true", help="ten times as many orders and more")


def pytest_configure(config):
    """What is cached is kept while the tests run, not with what the user has."""
    os.environ["XDG_CACHE_HOME"] = config.cache_folder = tempfile.mkdtemp(prefix="scull-tests-")


def pytest_unconfigure(config):
    shutil.rmtree(config.cache_folder, ignore_errors=True)


def pytest_collection_finish(session):
    """Modules and tests stay to the end: looking for garbage passes over them from now on."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish():
    """Reports stay, too: tests that collect garbage would pass over those of all before them."""
    if next(FINISHED) % 1000 == 0:
        gc.collect()
        gc.freeze()


class Golden(str):
    """The text recorded in a file; equal to the text it should be, or rewritten with it.

    A test writes `assert str(plan) == golden`, or `== golden("name")` if it has several texts.
    """

    path: Path
    update: bool

    def __new__(cls, path: Path, update: bool):
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = f"there is no {path.name}: record it by `pytest --update-golden`, then read it\n"
        golden = super().__new__(cls, text)
        golden.path, golden.update = path, update
        return golden

    def __call__(self, name: str) -> "Golden":
        return Golden(self.path.parent / f"{name}.txt", self.update)

    def __eq__(self, text: object) -> bool:
        if not isinstance(text, str):
            return NotImplemented
        text = text.rstrip("\n") + "\n"
        if self.update and text != str(self):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(text, encoding="utf-8", newline="\n")
            return True
        return text == str(self)

    __hash__ = str.__hash__


@pytest.fixture
def golden(request) -> Golden:
    """The golden text named after the test, `tests/golden/<test>.txt`."""
    name = re.sub(r"[^\w.-]+", "_", request.node.name.removeprefix("test_"))
    return Golden(GOLDEN / f"{name}.txt", request.config.getoption("--update-golden"))


@pytest.fixture
def nightly(request) -> int:
    """How often what is done at random is done: ten times as often at night."""
    return 10 if request.config.getoption("--nightly") else 1
