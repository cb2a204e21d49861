"""PaddlePaddle 2.6.2 writes the same Programs; run with `SCULL_PADDLE_PYTHON` set to its Python."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import scull as paddle
from tests.control.corpus import smooth
from tests.control.graph import program_of
from tests.control.source import model_of

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
ROOT = Path(__file__).parents[2]
COUNT = 10

pytestmark = pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no reference")

# There what is called scull is Paddle itself.
THERE = f"""
import json, sys, types
import paddle
sys.modules["scull"], sys.modules["scull.tensor"] = paddle, paddle.tensor
from tests.control.corpus import smooth
from tests.control.graph import program_of
from tests.control.source import model_of
print(json.dumps([str(program_of(smooth(i), model_of).program) for i in range({COUNT})]))
"""


def told(text):
    """The lines of a Program, but for what the reference leaves to chance or is idle.

    Operands of operators with blocks stand in the order of a set there. A variable of no fractions
    stops gradients here whatever it is made of.
    """
    lines = [re.sub(r"(dtype\((?:bool|int\d+)\)).*", r"\1", line) for line in text.splitlines()]
    lists = re.compile(r"(?<==)\[[^\]]*\]")
    blocks = ("= while(", "= conditional_block(")
    return [
        lists.sub(lambda m: str(sorted(m[0])), line) if any(b in line for b in blocks) else line
        for line in lines
    ]


@pytest.fixture(scope="module")
def texts():
    """The Programs as the reference prints them."""
    command = [str(PYTHON), "-B", "-c", THERE]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("number", range(COUNT))
def test_a_random_program_reads_as_the_reference_writes_it(number, texts):
    try:
        found = str(program_of(smooth(number), model_of).program)
    finally:
        paddle.disable_static()
    assert told(found) == told(texts[number])
