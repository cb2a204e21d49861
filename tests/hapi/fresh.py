"""Either mode, with names, values and Programs of its own."""

from contextlib import contextmanager

import scull as paddle


@contextmanager
def fresh(static):
    (paddle.enable_static if static else paddle.disable_static)()
    try:
        with (
            paddle.utils.unique_name.guard(),
            paddle.static.scope_guard(paddle.static.Scope()),
            paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        ):
            yield
    finally:
        paddle.disable_static()
