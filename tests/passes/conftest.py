"""Where tests of passes begin: names of their own, and a Program is checked after every pass."""

import pytest

import scull as paddle
from scull.flags import flags


@pytest.fixture(autouse=True)
def verified():
    """Check after every pass, while a test runs."""
    with flags(VERIFY_PASSES=True), paddle.utils.unique_name.guard():
        yield
