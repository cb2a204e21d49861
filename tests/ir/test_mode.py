"""Eager and static mode in turn."""

import scull as paddle
from scull.core import session
from scull.core.session import unique_name


def test_static_mode_has_names_of_its_own_and_eager_mode_starts_anew_after_it():
    with session.guarded(names=session.Names(), static_names=session.Names()):
        assert [unique_name("fc"), unique_name("fc")] == ["fc_0", "fc_1"]
        paddle.enable_static()
        assert unique_name("fc") == "fc_0"
        paddle.disable_static()
        assert unique_name("fc") == "fc_0"
        paddle.disable_static()
        assert unique_name("fc") == "fc_1"
        paddle.enable_static()
        paddle.enable_static()
        assert unique_name("fc") == "fc_1"
        paddle.disable_static()
