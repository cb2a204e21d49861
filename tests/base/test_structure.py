"""Nested structures, names, deprecation, exchange of memory: `paddle.utils`."""

import collections

import numpy as np
import pytest

import scull as paddle
from scull import utils
from scull.core.session import unique_name as next_name
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.utils import dlpack, unique_name
from scull.utils.deprecation import VisibleDeprecationWarning

Pair = collections.namedtuple("Pair", "a b")
NESTED = {"b": [1, Pair(2, (3,))], "a": (4, {"x": 5})}


def test_a_structure_is_flattened_in_the_order_of_its_keys():
    assert utils.flatten(NESTED) == [4, 5, 1, 2, 3]
    assert utils.flatten(7) == [7] and utils.flatten([]) == []


def test_packing_is_the_contrary_of_flattening():
    assert utils.pack_sequence_as(NESTED, utils.flatten(NESTED)) == NESTED
    assert list(utils.pack_sequence_as(NESTED, [0] * 5)) == ["b", "a"]
    assert utils.pack_sequence_as(3, [4]) == 4


def test_packing_counts_its_values():
    with pytest.raises(ArgumentError, match="Structure had 2 elements, but flat_sequence had 1"):
        utils.pack_sequence_as([1, 2], [1])
    with pytest.raises(ArgumentError, match="Structure is a scalar"):
        utils.pack_sequence_as(1, [1, 2])


def test_a_function_is_mapped_over_structures_of_one_form():
    assert utils.map_structure(lambda a, b: a + b, [1, (2, 3)], [4, (5, 6)]) == [5, (7, 9)]


def test_structures_of_differing_form_are_refused():
    utils.assert_same_structure([1, (2,)], [3, (4,)])
    utils.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ArgumentError, match="same number of elements"):
        utils.assert_same_structure([1], [1, 2])
    with pytest.raises(ArgumentTypeError, match="same sequence type"):
        utils.assert_same_structure([1], (1,))
    with pytest.raises(ArgumentError, match="same set of keys"):
        utils.assert_same_structure({"a": 1}, {"b": 1})
    with pytest.raises(ArgumentError, match="same nested structure"):
        utils.assert_same_structure([[1], 2], [1, [2]])


def test_a_string_is_one_value():
    assert not utils.is_sequence("ab") and utils.is_sequence({}) and utils.is_sequence((1,))
    assert utils.to_sequence("ab") == ["ab"] and utils.to_sequence([1]) == [1]


def test_a_number_stands_for_every_axis():
    assert utils.convert_to_list(3, 2, "stride") == [3, 3]
    assert utils.convert_to_list((1, np.int64(2)), 2, "stride") == [1, 2]
    for wrong in (1.5, [1], [1, 2.5]):
        with pytest.raises(ArgumentError, match="stride"):
            utils.convert_to_list(wrong, 2, "stride")


def test_a_guard_numbers_names_afresh():
    with unique_name.guard():
        assert [unique_name.generate("a"), next_name("a")] == ["a_0", "a_1"]
        with unique_name.guard("p_"):
            assert unique_name.generate("a") == "p_a_0"
        assert unique_name.generate_with_ignorable_key("a") == "a_2"


def test_a_generator_that_is_switched_back_goes_on():
    with unique_name.guard():
        unique_name.generate("a")
        names, taken = unique_name.switch()
        assert unique_name.generate("a") == "a_0"
        unique_name.switch(names, taken)
        assert unique_name.generate("a") == "a_1"


def test_names_of_parameters_are_switched_with_the_generator():
    attr = paddle.ParamAttr(name="mine")
    with unique_name.guard():
        paddle.nn.Linear(1, 1, weight_attr=attr)
        names, taken = unique_name.switch()
        paddle.nn.Linear(1, 1, weight_attr=attr)
        unique_name.switch(names, taken)
        assert [taken("mine"), taken("other"), taken("other")] == [True, False, True]
        with pytest.raises(ArgumentError, match="mine"):
            paddle.nn.Linear(1, 1, weight_attr=attr)


def test_something_old_says_what_replaces_it():
    @utils.deprecated(update_to="paddle.new", since="2.0.0", reason="shorter", level=1)
    def old(x):
        """Doc."""
        return x

    with pytest.warns(VisibleDeprecationWarning, match='Please use "paddle.new" instead'):
        assert old(3) == 3
    assert old.__doc__.endswith("Doc.") and "Reason: shorter" in old.__doc__


def test_something_older_yet_refuses():
    @utils.deprecated(level=2)
    def gone():
        return 1

    with pytest.raises(UnsupportedError, match="is deprecated"):
        gone()


def test_something_merely_noted_as_old_does_not_warn():
    assert utils.deprecated(update_to="paddle.new")(lambda: 5)() == 5


def test_a_release_is_compared_by_its_numbers():
    utils.require_version("2.5.0")
    utils.require_version("0.1", "10")
    with pytest.raises(UnsupportedError, match=r"9\.0 or higher is required"):
        utils.require_version("9.0")
    with pytest.raises(UnsupportedError, match=r"2\.5 or lower is required"):
        utils.require_version("0.1", "2.5")
    with pytest.raises(ArgumentError, match="must be in format"):
        utils.require_version("new")
    with pytest.raises(ArgumentTypeError, match="'min_version'"):
        utils.require_version(2)


def test_a_module_that_is_missing_is_named():
    assert utils.try_import("math").sqrt(4) == 2
    with pytest.raises(ImportError, match="Failed importing not_there"):
        utils.try_import("not_there")
    with pytest.raises(ImportError, match="own words"):
        utils.try_import("not_there", "own words")


def test_memory_goes_out_and_comes_back_without_a_copy():
    x = Tensor(np.array([1.0, 2.0], "float32"))
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y.array[0] = 5
    assert x.tolist() == [5.0, 2.0] and y.dtype is x.dtype
    assert dlpack.from_dlpack(np.ones(2)).tolist() == [1.0, 1.0]


def test_what_has_no_memory_to_share_is_refused():
    with pytest.raises(ArgumentTypeError, match="'x' in to_dlpack"):
        dlpack.to_dlpack([1])
    with pytest.raises(ArgumentTypeError, match="'dlpack' in from_dlpack"):
        dlpack.from_dlpack(3)


def test_the_check_runs_a_step(capsys):
    utils.run_check()
    assert "works well on 1 CPU" in capsys.readouterr().out


def test_what_is_not_provided_says_so_when_used():
    with pytest.raises(UnsupportedError, match="nothing is downloaded"):
        utils.download.get_path_from_url("1")
