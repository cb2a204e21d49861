"""Memory that arrays leave: faults of pages, in processes of their own."""

import os
import platform
import subprocess
import sys

import pytest

from scull.core.heap import ASKED

CODE = """
import resource
import numpy as np
import scull

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

x = np.ones(1 << 18)  # 2 MB
y = [x + x for _ in range(4)]
del y
before = faults()
for _ in range(50):
    y = [x + x for _ in range(4)]
    del y
print((faults() - before) // 200)
"""
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc is not glibc's")


def faults_of_a_sum(**settings):
    """How many pages one sum of 2 MB newly touches."""
    environment = {k: v for k, v in os.environ.items() if k not in ASKED} | settings
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@glibc
def test_sums_in_a_row_touch_the_pages_they_had():
    assert faults_of_a_sum() < 10


@glibc
def test_the_setting_gives_pages_back():
    assert faults_of_a_sum(SCULL_KEPT_MEGABYTES="0") > 100


@glibc
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ("MALLOC_MMAP_THRESHOLD_", "131072"),
        ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072"),
    ],
)
def test_what_the_environment_asks_of_malloc_stays(name, value):
    assert faults_of_a_sum(**{name: value}) > 100
