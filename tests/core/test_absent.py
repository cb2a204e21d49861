"""Names of Paddle's that are not there."""

import pytest

from scull.core.absent import absent
from scull.errors import UnsupportedError

lookup = absent("scull.place", {"there is no sea": "Boat"})


def test_what_is_not_there_says_why_when_it_is_used():
    with pytest.raises(UnsupportedError, match=r"`paddle.place.Boat` is not in scull: there is no"):
        lookup("Boat")(3)
    with pytest.raises(AttributeError, match=r"module 'scull.place' has no attribute 'Ship'"):
        lookup("Ship")
    assert not isinstance(3, lookup("Boat"))


def test_a_class_of_its_kind_is_written_and_refuses_to_be_made():
    class Wooden:
        pass

    class Ferry(Wooden, lookup("Boat")):
        seats = 3

        def __init__(self, number):
            self.number = number

    assert Ferry.seats == 3
    with pytest.raises(UnsupportedError, match=r"`paddle.place.Boat` is not in scull"):
        Ferry(3)
