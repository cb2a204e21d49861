"""The four stories of streams and memory, each with the fault that shows where care is missing."""

import numpy as np
import pytest

from scull.errors import DeviceFault
from scull.runtime.sim import Sim

SEEDS = range(100)


class Story:
    """A device with streams, and what its works saw."""

    def __init__(self, seed):
        self.device = Sim(seed=seed)
        self.seen = []

    def __getattr__(self, name):
        return self.device.stream(name)

    def filled(self, stream, value):
        """A buffer of a stream, filled with a number."""
        buffer = self.device.allocator.allocate(800, stream)
        array = buffer.array((100,), "float64")
        stream.launch(lambda: array.fill(value), (), (buffer,), f"fill {value}")
        return buffer

    def read(self, buffer, stream, declared=True):
        """A work that notes what it sees; the device hears of it only if it is `declared`."""
        array = buffer.array((100,), "float64")
        reads = (buffer,) if declared else ()
        stream.launch(lambda: self.seen.append(array.copy()), reads, (), "read")

    def order(self, before, after):
        """Let one stream wait for another."""
        event = self.device.event()
        before.record(event)
        after.wait(event)

    def end(self):
        """Wait, and say which numbers were seen; -1 stands for what nobody wrote."""
        self.device.synchronize()
        found = [set(np.nan_to_num(array, nan=-1).tolist()) for array in self.seen]
        return [numbers.pop() if len(numbers) == 1 else numbers for numbers in found]


def test_memory_freed_early_on_its_own_stream_is_safe_and_used_again_at_once():
    for seed in SEEDS:
        story = Story(seed)
        first = story.filled(story.a, 1)
        story.read(first, story.a)
        story.device.allocator.free(first)
        second = story.filled(story.a, 2)
        assert second.block is first.block
        story.read(second, story.a)
        assert story.end() == [1, 2]


def freed_while_another_stream_reads(story, told, declared=True):
    """Freed by its home while another stream, properly ordered after the write, still reads it."""
    first = story.filled(story.a, 1)
    story.order(story.a, story.b)
    story.read(first, story.b, declared)
    if told:
        story.device.allocator.uses(first, story.b)
    story.device.allocator.free(first)
    return first.block is story.filled(story.a, 2).block


def test_memory_freed_while_another_stream_reads_it_is_a_fault_whatever_the_order():
    for seed in SEEDS:
        story = Story(seed)
        freed_while_another_stream_reads(story, told=False)
        with pytest.raises(
            DeviceFault,
            match="buffer 1 of 800 bytes is freed on stream `a`, which is not ordered after `read`"
            " on stream `b` that read it, and the allocator was not told of that use",
        ):
            story.end()


def test_without_the_allocators_record_the_reader_sees_what_others_wrote():
    seen = set()
    for seed in SEEDS:
        story = Story(seed)
        freed_while_another_stream_reads(story, told=False, declared=False)
        seen.update(story.end())
    assert seen == {1, 2, -1}


def test_with_the_allocators_record_it_is_safe_and_the_memory_comes_back_by_event():
    reused = set()
    for seed in SEEDS:
        story = Story(seed)
        reused.add(freed_while_another_stream_reads(story, told=True))
        assert story.end() == [1]
        assert len({story.filled(story.a, n).block for n in (3, 4)}) == 2
        assert story.device.allocator.statistics().reserved <= 3 * 800
    assert reused == {True, False}


def test_record_and_wait_order_a_producer_and_its_consumer():
    seen = set()
    for seed in SEEDS:
        story = Story(seed)
        x = story.filled(story.a, 1)
        story.order(story.a, story.b)
        story.read(x, story.b)
        assert story.end() == [1]
        careless = Story(seed)
        x = careless.filled(careless.a, 1)
        with pytest.raises(DeviceFault, match=r"`read` on stream `b`.* after `fill 1` on stream"):
            careless.read(x, careless.b)
        careless.read(x, careless.b, declared=False)
        seen.update(careless.end())
    assert seen == {1, -1}


def test_several_consumers_on_different_streams_each_wait_and_the_memory_for_all_of_them():
    names = "bcd"
    for seed in SEEDS:
        story = Story(seed)
        x = story.filled(story.a, 1)
        event = story.device.event()
        story.a.record(event)
        for name in names:
            getattr(story, name).wait(event)
            story.read(x, getattr(story, name))
            story.device.allocator.uses(x, getattr(story, name))
        story.device.allocator.free(x)
        story.read(story.filled(story.a, 2), story.a)
        assert sorted(story.end()) == [1, 1, 1, 2]


@pytest.mark.parametrize("forgotten", "bcd")
def test_one_consumer_that_is_forgotten_is_found(forgotten):
    for seed in SEEDS:
        story = Story(seed)
        x = story.filled(story.a, 1)
        for name in "bcd":
            story.order(story.a, getattr(story, name))
            story.read(x, getattr(story, name))
            if name != forgotten:
                story.device.allocator.uses(x, getattr(story, name))
        story.device.allocator.free(x)
        with pytest.raises(DeviceFault, match=f"`read` on stream `{forgotten}` that read it"):
            story.end()


@pytest.mark.parametrize("forgotten", "bcd")
def test_a_write_after_several_consumers_waits_for_each(forgotten):
    story = Story(0)
    x = story.filled(story.a, 1)
    for name in "bcd":
        story.order(story.a, getattr(story, name))
        story.read(x, getattr(story, name))
        if name != forgotten:
            story.order(getattr(story, name), story.a)
    with pytest.raises(DeviceFault, match=rf"`write`.* after `read` on stream `{forgotten}`"):
        story.a.launch(lambda: None, (), (x,), "write")
    story.order(getattr(story, forgotten), story.a)
    story.a.launch(lambda: None, (), (x,), "write")
    story.end()


def test_memory_given_on_while_a_stream_uses_it_is_a_fault_at_that_use():
    story = Story(1)
    assert story.device.eagerness == 0
    x = story.filled(story.a, 1)
    story.order(story.a, story.b)
    story.read(x, story.b)
    story.device.allocator.uses(x, story.b)
    story.device.allocator.source.reached = lambda event: True  # an allocator that does not ask
    story.device.allocator.free(x)
    with pytest.raises(DeviceFault, match="stream `b` still uses is given to stream `a`"):
        story.filled(story.a, 2)
