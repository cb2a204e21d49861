"""Arithmetic that ends in infinity or NaN says nothing, as Paddle's does."""

import subprocess
import sys


def test_the_logarithm_of_zero_prints_no_warning():
    code = "import scull as paddle; print(paddle.log(paddle.zeros([1])).item())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("-inf", "")


def test_numpys_own_settings_stay():
    code = "import numpy as n; before = n.geterr(); import scull; assert n.geterr() == before"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
