"""What the tests of distributions ask for."""

import pytest

import scull as paddle


@pytest.fixture
def static_mode():
    """Static mode, until the test is over."""
    paddle.enable_static()
    yield
    paddle.disable_static()
