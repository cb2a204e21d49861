"""The examples in the docstrings of the profiler print what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["event", "export", "flops", "result", "scheduler", "session"])
def test_the_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(f"scull.profiler.{name}"))
    assert results.attempted
    assert not results.failed
