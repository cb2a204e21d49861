"""Where every test of the executor begins: static mode, Programs and names of its own."""

import pytest

import scull as paddle


@pytest.fixture(autouse=True)
def main():
    """The main Program of a test, while that runs."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()
