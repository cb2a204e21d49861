"""Settings: changed for a while, or from then on as attributes of their module."""

import pytest

import scull
from scull.flags import changes, flag, flags


def test_settings_are_attributes_in_small_letters():
    with flags(COMPILE="off", MAX_ROUNDS=0, TURN_SECONDS=1.0):
        before = changes[0]
        scull.flags.compile = "tiered"
        scull.flags.max_rounds = "7"
        scull.flags.turn_seconds = 3
        assert (flag("COMPILE"), flag("MAX_ROUNDS"), flag("TURN_SECONDS")) == ("tiered", 7, 3)
        assert scull.flags.compile == "tiered" and changes[0] == before + 3
        with scull.flags(COMPILE="eager"):
            assert scull.flags.compile == "eager"
    assert "compile" not in vars(scull.flags)


@pytest.mark.parametrize(
    ("name", "value", "error", "law"),
    [
        ("compiled", "eager", AttributeError, "no setting 'compiled': .*compile, "),
        ("max_rounds", "many", ValueError, "max_rounds is 'many', not a whole number"),
        ("max_rounds", True, TypeError, "max_rounds is True, no int"),
        ("compile", True, TypeError, "compile is True, no str"),
    ],
)
def test_what_is_no_setting_is_refused(name, value, error, law):
    with pytest.raises(error, match=law):
        setattr(scull.flags, name, value)
    if error is AttributeError:
        with pytest.raises(error, match=law):
            getattr(scull.flags, name)
