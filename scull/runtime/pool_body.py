"""What shares the chunks of a kernel, as LLVM IR, and what every thread does with its share.

A worker is in a job from the moment it has raised the number of those in it and lowered that of
those who may come, which fails once the job is closed; so a worker that is late, or asleep, is
waited for by nobody.

Every thread of a job begins with a section of the chunks that is its own, and goes on with what is
left in those of others: memory stays with the core that has it, and a slow thread delays no more
than what it has taken.

Where other processes want the cores, a thread may lose its own in the middle of a chunk, and the
job waits for it. After one that had to, the next small ones run alone: 3, then 15 and more where
that happens again, fewer where all goes well.
"""

from functools import cache

from scull.runtime.layout import with_offsets
from scull.runtime.pool_memory import (
    CLOSED,
    COMING,
    LARGE,
    LINE,
    MOST_ALONE,
    POOL,
    SECTION,
    SECTIONS,
    SIZE,
    WAKE,
)
from scull.runtime.pool_worker import PROCESSORS, WORKER

BODY = f"""
@pool = global [{SIZE} x i8] zeroinitializer, align {LINE}
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

; function(arguments, first, last, worker) for all of 0 .. chunks, which take one thread so much
; `work` in nanoseconds; by no more than `most` threads, where 0 are any number
define void @share(
  ptr %function, ptr %arguments, i64 %chunks, i64 %work, i64 %most
) nounwind {{
  %threads.place = place of threads in pool @pool
  %threads = load atomic i64, ptr %threads.place monotonic, align 8
  %beside = sub i64 %threads, 1
  %most.beside = sub i64 %most, 1
  %allowed = call i64 @llvm.umin.i64(i64 %beside, i64 %most.beside)
  %useful = sub i64 %chunks, 1
  %helpers = call i64 @llvm.umin.i64(i64 %allowed, i64 %useful)
  %several = icmp ne i64 %helpers, 0
  br i1 %several, label %claim, label %alone

claim:
  %busy = place of busy in pool @pool
  %claimed = cmpxchg ptr %busy, i64 0, i64 1 acquire monotonic
  %ours = extractvalue {{i64, i1}} %claimed, 1
  br i1 %ours, label %decide, label %alone

decide:
  %large = icmp uge i64 %work, {LARGE}
  %alone.place = place of alone in pool @pool
  %several.alone = load i64, ptr %alone.place
  %none.alone = icmp eq i64 %several.alone, 0
  %share = or i1 %large, %none.alone
  br i1 %share, label %muster, label %count.down

count.down:
  %fewer.alone = sub i64 %several.alone, 1
  store i64 %fewer.alone, ptr %alone.place
  br label %free

alone: ; one thread will do, or the pool works for another
  call void %function(ptr %arguments, i64 0, i64 %chunks, i64 0)
  ret void

muster:
  %started = started in pool @pool
  %enough = icmp uge i64 %started, %helpers
  br i1 %enough, label %ready, label %start

start:
  call void @start(i64 %helpers)
  br label %ready

ready:
  %there = started in pool @pool
  %found = call i64 @llvm.umin.i64(i64 %there, i64 %helpers)
  %none = icmp eq i64 %found, 0
  br i1 %none, label %free, label %open

free:
  store atomic i64 0, ptr %busy release, align 8
  br label %alone

open:
  %sections = add i64 %found, 1
  br label %each

each:
  %s = phi i64 [0, %open], [%s.next, %each]
  %s.next = add i64 %s, 1
  %begin.many = mul i64 %s, %chunks
  %begin = udiv i64 %begin.many, %sections
  %end.many = mul i64 %s.next, %chunks
  %behind = udiv i64 %end.many, %sections
  %section = call ptr @section(i64 %s)
  %next.place = place of next in section %section
  store i64 %begin, ptr %next.place
  %end.place = place of end in section %section
  store i64 %behind, ptr %end.place
  %more = icmp ult i64 %s.next, %sections
  br i1 %more, label %each, label %publish

publish:
  %function.place = place of function in pool @pool
  store ptr %function, ptr %function.place
  %arguments.place = place of arguments in pool @pool
  store ptr %arguments, ptr %arguments.place
  %count.place = place of count in pool @pool
  store i64 %sections, ptr %count.place
  %control = call i32 @control()
  %control.place = place of control in pool @pool
  store i32 %control, ptr %control.place
  %word = place of word in pool @pool
  %before = load atomic i64, ptr %word monotonic, align 8
  %number.before = lshr i64 %before, 32
  %number = add i64 %number.before, 1
  %upper = shl i64 %number, 32
  %lower = mul i64 %found, {COMING}
  %job = or i64 %upper, %lower
  %replaced = atomicrmw xchg ptr %word, i64 %job seq_cst
  %sleepers.place = place of sleepers in pool @pool
  %sleepers = load atomic i64, ptr %sleepers.place seq_cst, align 8
  %awake = icmp eq i64 %sleepers, 0
  br i1 %awake, label %help, label %weigh

weigh: ; waking takes a while: it has to pay, by this job or by several
  %owed.place = place of owed in pool @pool
  %owed.before = load i64, ptr %owed.place
  %owed = add i64 %owed.before, %work
  %pays = icmp uge i64 %owed, {WAKE}
  %owed.next = select i1 %pays, i64 0, i64 %owed
  store i64 %owed.next, ptr %owed.place
  br i1 %pays, label %wake, label %help

wake:
  %cpu = call i32 @sched_getcpu()
  %cpu.place = place of cpu in pool @pool
  store atomic i32 %cpu, ptr %cpu.place monotonic, align 4
  call void @wake_workers(i64 %found)
  br label %help

help:
  call void @work(i64 0)
  %last = atomicrmw and ptr %word, i64 {CLOSED} seq_cst
  br label %watch

watch:
  %turns = phi i64 [0, %help], [%turns.next, %again], [0, %slept]
  %waited = phi i64 [0, %help], [%waited, %again], [1, %slept]
  %now = load atomic i64, ptr %word acquire, align 8
  %inside = and i64 %now, 65535
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %done, label %patience

patience:
  %spin = spin in pool @pool
  %turns.next = add i64 %turns, 1
  %patient = icmp ult i64 %turns, %spin
  br i1 %patient, label %again, label %sleep

again:
  call void @pause()
  br label %watch

sleep:
  %waiting = place of waiting in pool @pool
  store atomic i64 1, ptr %waiting seq_cst, align 8
  %seen = load atomic i64, ptr %word seq_cst, align 8
  %seen.inside = and i64 %seen, 65535
  %left = icmp eq i64 %seen.inside, 0
  br i1 %left, label %slept, label %rest

rest:
  %inside.place = place of inside in pool @pool
  %expected = trunc i64 %seen to i32
  call void @rest(ptr %inside.place, i32 %expected)
  br label %slept

slept:
  store atomic i64 0, ptr %waiting seq_cst, align 8
  br label %watch

done:
  br i1 %large, label %end, label %learn

learn:
  %waits.place = place of waits in pool @pool
  %waits = load i64, ptr %waits.place
  %many = shl i64 %waits, 2
  %more.alone = add i64 %many, 3
  %bounded = call i64 @llvm.umin.i64(i64 %more.alone, i64 {MOST_ALONE})
  %half = lshr i64 %waits, 1
  %late = icmp ne i64 %waited, 0
  %waits.next = select i1 %late, i64 %bounded, i64 %half
  store i64 %waits.next, ptr %waits.place
  %alone.next = select i1 %late, i64 %bounded, i64 0
  store i64 %alone.next, ptr %alone.place
  br label %end

end:
  store atomic i64 0, ptr %busy release, align 8
  ret void
}}

define internal ptr @section(i64 %number) nounwind {{
  %far = mul i64 %number, {LINE}
  %first = getelementptr i8, ptr @pool, i64 {SECTIONS}
  %place = getelementptr i8, ptr %first, i64 %far
  ret ptr %place
}}

; take chunks until there are none, those of the own section first
define internal void @work(i64 %worker) nounwind {{
entry:
  %function = function in pool @pool
  %arguments = arguments in pool @pool
  %count = count in pool @pool
  br label %each

each:
  %k = phi i64 [0, %entry], [%k.next, %over]
  %far = add i64 %worker, %k
  %which = urem i64 %far, %count
  %section = call ptr @section(i64 %which)
  %next = place of next in section %section
  %end = end in section %section
  br label %look

look:
  %now = load atomic i64, ptr %next monotonic, align 8
  %some = icmp ult i64 %now, %end
  br i1 %some, label %take, label %over

take:
  %left = sub i64 %end, %now
  %half = lshr i64 %left, 1
  %many = call i64 @llvm.umax.i64(i64 %half, i64 1)
  %first = atomicrmw add ptr %next, i64 %many monotonic
  %taken = icmp ult i64 %first, %end
  br i1 %taken, label %do, label %over

do:
  %beyond = add i64 %first, %many
  %last = call i64 @llvm.umin.i64(i64 %beyond, i64 %end)
  call void %function(ptr %arguments, i64 %first, i64 %last, i64 %worker)
  br label %look

over:
  %k.next = add i64 %k, 1
  %others = icmp ult i64 %k.next, %count
  br i1 %others, label %each, label %done

done:
  ret void
}}
"""

# Where no threads of ours have been tried.
ALONE = """
define void @share(
  ptr %function, ptr %arguments, i64 %chunks, i64 %work, i64 %most
) nounwind {
  call void %function(ptr %arguments, i64 0, i64 %chunks, i64 0)
  ret void
}
"""


@cache
def pool_body(processor: str) -> str:
    """The IR of `share`, `resize` and `pauses`, with the pool itself."""
    return with_offsets(BODY + WORKER, {"pool": POOL, "section": SECTION}) + PROCESSORS[processor]
