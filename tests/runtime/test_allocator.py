"""The caching allocator: what it gives twice, what it counts, what it does when memory is short."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull.errors import ArgumentError, DeviceFault, ResourceError, RunError
from scull.runtime.allocator import SLACK, TINY
from scull.runtime.sim import Sim


def device(limit=0, seed=1):
    """A device that runs nothing before it must."""
    found = Sim(seed=seed, limit=limit)
    assert seed != 1 or found.eagerness == 0
    return found


def used_elsewhere(sim, size):
    """A freed buffer that another stream still uses."""
    a, b, event = sim.stream("a"), sim.stream("b"), sim.event()
    buffer = sim.allocator.allocate(size, a)
    a.launch(lambda: None, (), (buffer,), "write")
    a.record(event)
    b.wait(event)
    b.launch(lambda: None, (buffer,), (), "read")
    sim.allocator.uses(buffer, b)
    sim.allocator.free(buffer)
    return buffer


def test_a_freed_block_serves_the_next_buffer_of_its_stream_and_no_other_stream():
    sim = device()
    a, b = sim.stream("a"), sim.stream("b")
    first = sim.allocator.allocate(1000, a)
    a.launch(lambda: None, (), (first,), "write")
    sim.allocator.uses(first, a)
    sim.allocator.free(first)
    assert a.queue and sim.allocator.allocate(1000, b).block is not first.block
    assert sim.allocator.allocate(1000, a).block is first.block
    assert sim.allocator.allocate(1000, a).block is not first.block
    assert sim.allocator.statistics().reuses == 1


def test_a_block_serves_what_is_hardly_smaller():
    sim = device()
    a = sim.stream("a")
    blocks = {}
    for size in (TINY, 900, 1000, 1200):
        buffer = sim.allocator.allocate(size, a)
        blocks[size] = buffer.block
        sim.allocator.free(buffer)
    assert sim.allocator.allocate(1, a).block is blocks[TINY]
    assert sim.allocator.allocate(901, a).block is blocks[1000]
    assert sim.allocator.allocate(901, a).block not in blocks.values()
    assert sim.allocator.allocate(1200 * SLACK // (SLACK + 1), a).block not in blocks.values()
    assert sim.allocator.allocate(1200 * SLACK // (SLACK + 1) + 1, a).block is blocks[1200]


def test_a_block_that_another_stream_uses_comes_back_when_that_is_done():
    sim = device()
    first = used_elsewhere(sim, 1000)
    assert sim.allocator.allocate(1000, first.stream).block is not first.block
    sim.stream("b").synchronize()
    assert sim.allocator.allocate(1000, first.stream).block is first.block
    assert sim.allocator.statistics().waits == 0


def test_a_block_with_several_users_waits_for_each():
    sim = device()
    a, event = sim.stream("a"), sim.event()
    buffer = sim.allocator.allocate(8, a)
    a.launch(lambda: None, (), (buffer,), "write")
    a.record(event)
    for name in "bc":
        sim.stream(name).wait(event)
        sim.stream(name).launch(lambda: None, (buffer,), (), "read")
        sim.allocator.uses(buffer, sim.stream(name))
        sim.allocator.uses(buffer, sim.stream(name))
    sim.allocator.uses(buffer, a)
    sim.allocator.free(buffer)
    mark = sim.stream("b").queue[-1]
    sim.finish([sim.stream("b")], lambda: mark.reached)
    done = not sim.stream("c").queue
    assert (sim.allocator.allocate(8, a).block is buffer.block) == done
    sim.synchronize()
    assert done or sim.allocator.allocate(8, a).block is buffer.block


def test_where_memory_is_short_the_host_waits_for_freed_blocks():
    sim = device(limit=1000)
    first = used_elsewhere(sim, 1000)
    assert sim.allocator.allocate(1000, first.stream).block is first.block
    assert sim.allocator.statistics().waits == 1 and not sim.stream("b").queue


def test_the_error_of_a_work_is_none_of_the_allocators():
    sim = device(limit=1000)
    sim.stream("b").launch(lambda: 1 / 0)
    first = used_elsewhere(sim, 1000)
    assert sim.allocator.allocate(1000, first.stream).block is first.block
    with pytest.raises(ZeroDivisionError):
        sim.synchronize()


def test_where_memory_is_short_cached_blocks_go_back_once_nothing_uses_them():
    ran = []
    sim = device(limit=1000)
    a, b = sim.stream("a"), sim.stream("b")
    first = sim.allocator.allocate(600, a)
    a.launch(lambda: ran.append(1), (), (first,), "write")
    sim.allocator.free(first)
    assert not ran
    second = sim.allocator.allocate(900, b)
    assert ran == [1] and second.block is not first.block
    assert (sim.allocator.statistics().reserved, sim.allocator.statistics().cached) == (900, 0)


def test_a_device_without_memory_is_like_a_limit(monkeypatch):
    sim = device()
    a = sim.stream("a")
    reserve, room = sim.source.reserve, [1000]

    def scarce(size):
        if size > room[0]:
            raise MemoryError
        room[0] -= size
        return reserve(size)

    monkeypatch.setattr(sim.source, "reserve", scarce)
    monkeypatch.setattr(sim.source, "release", lambda m: room.insert(0, room.pop() + m.data.size))
    sim.allocator.free(sim.allocator.allocate(600, a))
    assert sim.allocator.allocate(1000, a).size == 1000
    with pytest.raises(ResourceError, match="a buffer of 8 bytes finds no memory: 1000 bytes live"):
        sim.allocator.allocate(8, a)


def test_an_allocation_that_fails_leaves_everything_as_it_was():
    sim = device(limit=1000)
    a = sim.stream("a")
    kept = sim.allocator.allocate(300, a)
    sim.allocator.free(sim.allocator.allocate(200, a))
    pending = used_elsewhere(sim, 100)
    before = sim.allocator.statistics()
    with pytest.raises(ResourceError) as error:
        sim.allocator.allocate(701, a)
    assert str(error.value) == (
        "a buffer of 701 bytes finds no memory: 300 bytes live (at most 500), 300 cached, "
        "600 of 1000 reserved; 3 allocations, 0 of cached blocks, 0 waits"
    )
    assert sim.allocator.statistics() == before and sim.stream("b").queue
    assert pending.block in [block for _, block in sim.allocator.pending[sim.stream("b")]]
    assert sim.allocator.allocate(700, a).size == 700 and kept.live


def test_a_negative_size_is_refused():
    sim = device()
    with pytest.raises(ArgumentError, match="at least 0 bytes, not -1"):
        sim.allocator.allocate(-1, sim.stream("a"))


def test_the_peak_may_be_counted_anew():
    sim = device()
    a = sim.stream("a")
    sim.allocator.free(sim.allocator.allocate(100, a))
    kept = sim.allocator.allocate(10, a)
    assert sim.allocator.statistics().peak == 100
    sim.allocator.reset_peak()
    assert sim.allocator.statistics().peak == sim.allocator.statistics().live == kept.size


def test_what_is_cached_can_be_given_back():
    sim = device()
    for size in (10, 20):
        used_elsewhere(sim, size)
        sim.allocator.free(sim.allocator.allocate(size, sim.stream("b")))
    assert sim.allocator.statistics().cached == 60
    sim.allocator.give_back()
    assert sim.allocator.statistics().reserved == 0


def test_what_is_freed_while_the_allocator_is_at_work_is_taken_back_after_it():
    sim = device()
    a = sim.stream("a")
    first, second = sim.allocator.allocate(8, a), sim.allocator.allocate(8, a)
    reserve = sim.source.reserve

    def collecting(size):
        sim.allocator.free(first)
        assert not first.live and sim.allocator.live == 16
        return reserve(size)

    sim.source.reserve = collecting
    sim.allocator.allocate(8, a)
    assert sim.allocator.statistics().live == 16
    sim.source.reserve = reserve
    sim.allocator.free(second)
    assert sim.allocator.statistics().live == 8


def test_what_is_freed_while_another_thread_is_at_work_is_taken_back_by_the_next_call():
    sim = device()
    a = sim.stream("a")
    first = sim.allocator.allocate(8, a)
    with sim.lock:
        thread = threading.Thread(target=sim.allocator.free, args=(first,))
        thread.start()
        thread.join()
        assert sim.allocator.live == 8
    assert sim.allocator.allocate(8, a).block is first.block


def test_a_work_may_not_allocate():
    sim = device()
    a = sim.stream("a")
    sim.allocator.free(used := sim.allocator.allocate(8, a))
    a.launch(lambda: sim.allocator.allocate(8, a))
    sim.allocator.limit = used.size
    sim.allocator.allocate(7, sim.stream("b"))
    with pytest.raises(RunError, match="a work may not allocate"):
        a.synchronize()


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(0, 100), st.sampled_from([0, 500, 3000]))
def test_live_buffers_never_overlap_and_the_counts_add_up(data, seed, limit):
    sim = Sim(seed=seed, limit=limit)
    allocator, live = sim.allocator, []
    for _ in range(data.draw(st.integers(1, 40))):
        stream = sim.stream(data.draw(st.sampled_from("abc")))
        act = data.draw(st.sampled_from(["allocate", "allocate", "use", "free", "wait"]))
        if act == "allocate":
            before = allocator.statistics()
            try:
                live.append(allocator.allocate(data.draw(st.integers(0, 400)), stream))
            except ResourceError:
                assert limit and allocator.statistics() == before
            else:
                stream.launch(lambda: None, (), (live[-1],), "write")
        elif act == "wait":
            stream.synchronize()
        elif live:
            buffer = data.draw(st.sampled_from(live))
            if act == "use":
                event = sim.event()
                buffer.stream.record(event)
                stream.wait(event)
                stream.launch(lambda: None, (buffer,), (), "read")
                allocator.uses(buffer, stream)
            else:
                live.remove(buffer)
                allocator.free(buffer)
        check(allocator, live, limit)
    for buffer in live:
        allocator.free(buffer)
    sim.synchronize()
    allocator.give_back()
    assert allocator.statistics().reserved == allocator.statistics().live == 0


def check(allocator, live, limit):
    """Places and counts of what is live."""
    found = allocator.statistics()
    spans = sorted((b.block.memory.data.ctypes.data, b.block.capacity) for b in live if b.size)
    ends = [0, *(start + size for start, size in spans)]
    assert all(start >= end for (start, _), end in zip(spans, ends, strict=False))
    assert all(b.block.capacity >= b.size and b.live for b in live)
    assert found.live == sum(b.size for b in live) <= found.peak
    assert found.reserved - found.cached == sum(b.block.capacity for b in live)
    pools = [b.capacity for blocks in allocator.pools.values() for b in blocks]
    waiting = {b: b.capacity for blocks in allocator.pending.values() for _, b in blocks}
    assert found.cached == sum(pools) + sum(waiting.values())
    assert found.allocations >= found.reuses and (not limit or found.reserved <= limit)


def test_freeing_twice_is_a_fault():
    sim = device()
    buffer = sim.allocator.allocate(8, sim.stream("a"))
    sim.allocator.free(buffer)
    with pytest.raises(DeviceFault, match="buffer 1 of 8 bytes is freed after it was freed"):
        sim.allocator.free(buffer)
    assert sim.allocator.statistics().live == 0
