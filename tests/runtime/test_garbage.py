"""Python's search for garbage is put off, and goes on as it was."""

import gc

import pytest

from scull.runtime.garbage import uncollected


@pytest.fixture(params=[True, False])
def collects(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_it_is_put_off_and_goes_on_only_if_it_did(collects):
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled() == collects


def test_it_goes_on_after_an_error(collects):
    with pytest.raises(KeyboardInterrupt), uncollected():
        raise KeyboardInterrupt
    assert gc.isenabled() == collects
