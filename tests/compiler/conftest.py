"""Machines that code is made for, whatever the tests run on."""

import pytest

from scull.runtime import llvm


@pytest.fixture
def machine(monkeypatch):
    """Code is made for a machine of a level from then on; it is not run."""

    def as_if(level):
        monkeypatch.setattr(llvm, "levels", lambda: (level,))

    return as_if
