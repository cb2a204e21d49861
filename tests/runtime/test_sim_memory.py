"""The memory of a simulated device: poison, races, parts of buffers, what is freed."""

from functools import partial

import numpy as np
import pytest

from scull.errors import ArgumentError, DeviceFault
from scull.runtime.sim import Sim
from tests.runtime.simulated import fetched, filled, look_at

SEEDS = range(20)


def test_memory_that_nothing_wrote_is_poison_and_reading_it_a_fault():
    device = Sim(seed=0)
    a = device.stream("a")
    buffer = device.allocator.allocate(16, a)
    assert np.isnan(buffer.array((2,), "float64")).all()
    assert buffer.array((4,), "int32").tolist() == [-1] * 4
    with pytest.raises(DeviceFault, match="`read` on stream `a` reads buffer 1 of 16 bytes, which"):
        a.launch(lambda: None, (buffer,), (), "read")
    assert not a.queue


def test_a_buffer_of_no_bytes_holds_empty_arrays():
    device = Sim(seed=0)
    a = device.stream("a")
    buffer = device.allocator.allocate(0, a)
    a.launch(lambda: None, (buffer,), (), "read")
    assert buffer.array((0, 3), "float32").shape == (0, 3)
    assert buffer.array(0, "float32").shape == (0,)


def test_arrays_lie_where_they_were_asked_for_and_within_their_buffer():
    device = Sim(seed=0)
    buffer = device.allocator.allocate(24, device.stream("a"))
    assert buffer.array((), "float64").shape == ()
    assert (
        buffer.array((2,), "float64", 8).ctypes.data == buffer.array((3,), "int64")[1:].ctypes.data
    )
    assert buffer.array((3,), "float64").ctypes.data % 64 == 0
    for shape, offset in [((4,), 0), ((3,), 8), ((1,), -8), ((-1,), 0)]:
        with pytest.raises(ArgumentError, match="is not in buffer 1 of 24 bytes"):
            buffer.array(shape, "float64", offset)


@pytest.mark.parametrize("seed", range(4))
def test_a_read_that_is_not_ordered_after_the_write_is_a_fault(seed):
    device = Sim(seed=seed)
    a, b = device.stream("a"), device.stream("b")
    buffer, _ = filled(device, a, 1)
    with pytest.raises(
        DeviceFault,
        match="`read` on stream `b` reads buffer 1 of 32 bytes and is not ordered after `fill 1` on"
        " stream `a`",
    ):
        b.launch(lambda: None, (buffer,), (), "read")


@pytest.mark.parametrize("seed", range(4))
def test_a_write_that_is_not_ordered_after_every_read_is_a_fault(seed):
    device = Sim(seed=seed)
    a, b, c, event = device.stream("a"), device.stream("b"), device.stream("c"), device.event()
    buffer, _ = filled(device, a, 1)
    a.record(event)
    for stream in (b, c):
        stream.wait(event)
        stream.launch(lambda: None, (buffer,), (), f"read of {stream.name}")
    later = device.event()
    b.record(later)
    a.wait(later)
    with pytest.raises(DeviceFault, match=r"`write` on stream `a` .* `read of c` on stream `c`"):
        a.launch(lambda: None, (), (buffer,), "write")
    c.record(later)
    a.wait(later)
    a.launch(lambda: None, (), (buffer,), "write")


def test_reads_need_no_order():
    device = Sim(seed=0)
    a, event = device.stream("a"), device.event()
    buffer, _ = filled(device, a, 1)
    a.record(event)
    for name in "bcd":
        device.stream(name).wait(event)
        device.stream(name).launch(lambda: None, (buffer,), (), "read")


def test_an_order_goes_through_other_streams_and_through_the_host():
    device = Sim(seed=0)
    a, b, c = (device.stream(name) for name in "abc")
    buffer, _ = filled(device, a, 1)
    one, two = device.event(), device.event()
    a.record(one)
    b.wait(one)
    b.record(two)
    c.wait(two)
    c.launch(lambda: None, (buffer,), (), "after two events")
    other, _ = filled(device, a, 2)
    a.synchronize()
    device.stream("d").launch(lambda: None, (other,), (), "after the host waited")
    third, _ = filled(device, a, 3)
    a.record(one)
    one.synchronize()
    device.stream("e").launch(lambda: None, (third,), (), "after the host waited for an event")


def test_what_the_host_waited_for_every_stream_knows():
    device = Sim(seed=0)
    a, b = device.stream("a"), device.stream("b")
    for value in range(3):
        buffer, _ = filled(device, a, value)
        with pytest.raises(DeviceFault):
            b.launch(lambda: None, (buffer,), (), "read")
        a.synchronize()
        b.launch(lambda: None, (buffer,), (), "read")
        b.synchronize()
        device.allocator.free(buffer)
        device.synchronize()


def test_whether_an_event_happened_to_be_done_hides_no_race():
    for seed in SEEDS:
        device = Sim(seed=seed)
        a, b = device.stream("a"), device.stream("b")
        buffer, _ = filled(device, a, 1)
        for _ in range(50):
            b.launch(lambda: None)
        with pytest.raises(DeviceFault):
            b.launch(lambda: None, (buffer,), (), "read")


def test_a_fault_launches_nothing_and_changes_nothing():
    device = Sim(seed=1)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    buffer, array = filled(device, a, 1)
    a.record(event)
    with pytest.raises(DeviceFault):
        b.launch(lambda: array.fill(2), (), (buffer,), "write")
    b.wait(event)
    b.launch(lambda: None, (buffer,), (), "read")
    assert fetched(device, array, b) == [1.0] * 4


def test_works_that_touch_different_parts_need_no_order():
    device = Sim(seed=0)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    buffer = device.allocator.allocate(64, a)
    a.record(event)
    b.wait(event)
    a.launch(lambda: None, (), (buffer.part("x"),), "write x")
    b.launch(lambda: None, (), (buffer.part("y"),), "write y")
    assert buffer.part("x") is buffer.part("x") and buffer.part("x").buffer is buffer
    with pytest.raises(DeviceFault, match=r"`read` on stream `a` reads a part of .* `write y`"):
        a.launch(lambda: None, (buffer.part("y"),), (), "read")
    with pytest.raises(DeviceFault, match=r"`read` on stream `a` reads buffer 1 .* `write y`"):
        a.launch(lambda: None, (buffer,), (), "read")
    b.record(event)
    a.wait(event)
    a.launch(lambda: None, (), (buffer,), "write all")
    with pytest.raises(DeviceFault, match=r"`read` on stream `b` reads a part of .* `write all`"):
        b.launch(lambda: None, (buffer.part("x"),), (), "read")
    with pytest.raises(DeviceFault, match=r"`read` on stream `b` reads a part of .* `write all`"):
        b.launch(lambda: None, (buffer.part("new"),), (), "read")


def test_a_part_that_is_new_was_touched_as_the_whole_was():
    device = Sim(seed=0)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    buffer, _ = filled(device, a, 1)
    a.record(event)
    b.wait(event)
    b.launch(lambda: None, (buffer,), (), "read all")
    with pytest.raises(DeviceFault, match=r"`write` on stream `a` writes a part of .* `read all`"):
        a.launch(lambda: None, (), (buffer.part("x"),), "write")


def test_a_buffer_is_free_when_all_its_parts_are():
    device = Sim(seed=0)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    buffer = device.allocator.allocate(64, a)
    parts = {name: buffer.part(name) for name in "xy"}
    a.record(event)
    b.wait(event)
    b.launch(lambda: None, (), (parts["y"],), "write y")
    b.record(event)
    b.launch(lambda: None, (), (parts["x"],), "write x")
    a.wait(event)
    device.allocator.free(buffer)
    with pytest.raises(
        DeviceFault, match="not ordered after `write x` on stream `b` that wrote it"
    ):
        a.synchronize()


def test_a_buffer_whose_parts_are_written_may_be_read_as_a_whole():
    device = Sim(seed=0)
    a = device.stream("a")
    buffer = device.allocator.allocate(64, a)
    with pytest.raises(DeviceFault, match="which nothing wrote"):
        a.launch(lambda: None, (buffer.part("x"),), (), "read")
    a.launch(lambda: None, (), (buffer.part("x"),), "write")
    a.launch(lambda: None, (buffer,), (), "read")


def test_the_use_of_a_freed_buffer_is_a_fault():
    device = Sim(seed=0)
    a = device.stream("a")
    buffer, _ = filled(device, a, 1)
    device.allocator.free(buffer)
    with pytest.raises(DeviceFault, match=r"`read` on stream `a` reads buffer 1 .* after it was f"):
        a.launch(lambda: None, (buffer,), (), "read")
    with pytest.raises(DeviceFault, match="after it was freed"):
        a.launch(lambda: None, (), (buffer,), "write")
    for act in (device.allocator.free, lambda b: device.allocator.uses(b, device.stream("b"))):
        with pytest.raises(DeviceFault, match="after it was freed"):
            act(buffer)
    with pytest.raises(DeviceFault, match="after it was freed"):
        buffer.array((4,), "float64")


def test_freed_memory_is_poisoned_in_the_order_of_its_stream():
    for seed in SEEDS:
        device, seen = Sim(seed=seed), []
        a = device.stream("a")
        buffer, array = filled(device, a, 1)
        look = partial(look_at, seen, array)
        a.launch(look, (buffer,), (), "read")
        device.allocator.free(buffer)
        a.launch(look)
        a.synchronize()
        assert seen[0].tolist() == [1.0] * 4 and np.isnan(seen[1]).all()
