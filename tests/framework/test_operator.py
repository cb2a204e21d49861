"""One operator on the values of a scope, some of them rows of a tall matrix."""

import numpy as np
import pytest

from scull.base import core
from scull.errors import RangeError
from scull.files import proto


def run(scope, type, inputs, outputs, **ints):
    """Run one operator on names of `scope`."""
    message = proto.OpDesc(type=type)
    for slots, given in ((message.inputs, inputs), (message.outputs, outputs)):
        for slot, name in given.items():
            slots.add(parameter=slot, arguments=[name])
    for name, value in ints.items():
        several = isinstance(value, list)
        kind = proto.AttrType.Value("LONGS" if several else "FLOAT")
        made = message.attrs.add(name=name, type=kind)
        if several:
            made.longs.extend(value)
        else:
            made.f = value
    core.Operator.create(message.SerializeToString()).run(scope, core.CPUPlace())


def rows_of(scope, name, numbers, height, values):
    """Put some rows of a matrix into `scope`."""
    rows = scope.var(name).get_selected_rows()
    rows.set_height(height)
    rows.set_rows(numbers)
    rows.get_tensor().set(values, core.CPUPlace())
    return rows


def test_rows_stay_rows_when_an_operator_fills_them():
    scope = core.Scope()
    out = scope.var("Out").get_selected_rows()
    run(scope, "fill_constant", {}, {"Out": "Out"}, shape=[12, 9], value=3.5)
    assert np.array(out.get_tensor()).tolist() == np.full((12, 9), 3.5).tolist()


def test_the_shape_of_rows_is_that_of_what_they_hold():
    scope = core.Scope()
    rows_of(scope, "X", [0, 1, 19], 20, np.ones((3, 2), "float32"))
    run(scope, "shape", {"Input": "X"}, {"Out": "Out"})
    assert scope.var("Out").value.tolist() == [3, 2]


def test_a_table_of_rows_is_looked_up_by_their_numbers():
    scope = core.Scope()
    rows_of(scope, "W", [7, 2, 4], 9, np.array([[7.0], [2.0], [4.0]], "float32"))
    scope.var("Ids").get_tensor().set(np.array([[4, 7], [2, 2]]), core.CPUPlace())
    run(scope, "lookup_table_v2", {"W": "W", "Ids": "Ids"}, {"Out": "Out"})
    assert scope.var("Out").value[..., 0].tolist() == [[4.0, 7.0], [2.0, 2.0]]
    scope.var("Ids").get_tensor().set(np.array([3]), core.CPUPlace())
    with pytest.raises(RangeError, match="rows that the table lacks"):
        run(scope, "lookup_table_v2", {"W": "W", "Ids": "Ids"}, {"Out": "Out"})
