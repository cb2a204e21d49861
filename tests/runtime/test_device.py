"""Places and the devices behind them, and the device that runs nothing."""

import numpy as np
import pytest

import scull
from scull.core import place, session
from scull.core.place import CPUPlace, CustomPlace, Place
from scull.errors import ArgumentError, ArgumentTypeError, ResourceError, RunError
from scull.runtime.device import MAKERS, Allocator, Buffer, Device, Event, Stream, device_of
from scull.runtime.null import Null
from scull.runtime.sim import Sim
from tests.runtime.test_sim import members


def test_a_place_has_one_device():
    found = device_of(CustomPlace("sim", 3))
    assert type(found) is Sim and found.place == Place("sim", 3)
    assert found is device_of(Place("sim", 3)) is not device_of(CustomPlace("sim", 4))
    assert type(device_of(CustomPlace("null"))) is Null


def test_a_closed_device_has_a_successor():
    first = device_of(CustomPlace("sim", 5))
    first.close()
    assert device_of(CustomPlace("sim", 5)) is device_of(CustomPlace("sim", 5)) is not first


def test_a_kind_that_nobody_makes_is_refused_by_name():
    with pytest.raises(ArgumentError, match="`npu` is no kind of device: there are `null`, `sim`"):
        device_of(CustomPlace("npu", 0))


def test_what_has_a_device_has_a_place():
    assert set(place.CUSTOM) == set(MAKERS)


def test_a_custom_place_says_what_it_is():
    sim = scull.CustomPlace("sim", 1)
    assert (sim.get_device_type(), sim.get_device_id(), repr(sim)) == ("sim", 1, "Place(sim:1)")
    assert sim.is_custom_place() and not sim.is_cpu_place() and not CPUPlace().is_custom_place()
    assert sim == Place("sim", 1) != scull.CustomPlace("sim", 0)
    for wrong in [("sim", -1), ("sim", "0"), (0, 0)]:
        with pytest.raises(ArgumentTypeError, match="a kind and a number from 0 on"):
            scull.CustomPlace(*wrong)


@pytest.mark.parametrize("name", ["sim", "sim:2", "null"])
def test_a_device_for_tests_may_be_set_by_name(name):
    before = session.place()
    try:
        kind, _, number = name.partition(":")
        assert scull.set_device(name) == CustomPlace(kind, int(number or 0)) == session.place()
        assert scull.get_device() == f"{kind}:{number or 0}"
    finally:
        session.put("place", before)


def test_the_null_device_has_what_the_interface_asks_for():
    device = Null()
    stream = device.stream("a")
    buffer = device.allocator.allocate(8, stream)
    parts = [(Device, device), (Stream, stream), (Event, device.event()), (Buffer, buffer)]
    for protocol, made in [*parts, (Allocator, device.allocator)]:
        assert [name for name in members(protocol) if not hasattr(made, name)] == []


def test_the_null_device_drops_what_is_launched():
    device, target = Null(), np.full(3, 7.0)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    assert device.stream("a") is a is not b
    buffer = device.allocator.allocate(24, a)
    array = buffer.array((3,), "float64")
    a.launch(lambda: 1 / 0, (buffer, buffer.part("x")), (buffer,), "divide")
    a.record(event)
    b.wait(event)
    device.copy_in(target, array, a)
    device.copy_out(array, target, b)
    event.synchronize()
    a.synchronize()
    device.synchronize()
    assert event.done() and target.tolist() == [7.0] * 3


def test_the_null_device_counts_bytes_without_taking_them():
    device = Null(limit=2**60)
    a, b = device.stream("a"), device.stream("b")
    buffer = device.allocator.allocate(2**59, a)
    array = buffer.array((2**29, 2**27), "float64")
    assert array.shape == (2**29, 2**27) and array.dtype == "float64" and array[3, 4] == 0
    assert not array.flags.writeable
    device.allocator.uses(buffer, b)
    device.allocator.free(buffer)
    assert device.allocator.allocate(2**59, a).block is buffer.block
    with pytest.raises(ResourceError, match="finds no memory"):
        device.allocator.allocate(2**60, a)
    assert device.allocator.statistics().peak == 2**59


def test_a_closed_null_device_refuses_works_and_memory():
    device = Null()
    a = device.stream("a")
    device.close()
    for use in (
        lambda: a.launch(lambda: None),
        lambda: device.copy_in(np.zeros(1), np.zeros(1), a),
        lambda: device.copy_out(np.zeros(1), np.zeros(1), a),
        lambda: device.allocator.allocate(8, a),
    ):
        with pytest.raises(RunError, match="is closed"):
            use()
