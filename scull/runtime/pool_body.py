"""The pool's threads as LLVM IR: what shares the chunks of a kernel, and what workers do.

All that changes is in the pool, a piece of memory. Its first word says which job there is: in the
upper half the job's number, in the lower how many workers are in it (16 bits) and how many more may
come (16 bits). A worker is in a job from the moment it has raised the one and lowered the other,
which fails once the job is closed; so a worker that is late, or asleep, is waited for by nobody.

Every thread of a job begins with a section of the chunks that is its own, and goes on with what is
left in those of others: memory stays with the core that has it, and a slow thread delays no more
than what it has taken.
"""

from functools import cache

from scull.runtime.layout import with_offsets

MOST = 256  # threads
LINE = 128  # bytes that two cores never share
STACK = 8 << 20  # bytes of a worker's stack
SECTIONS = 4096  # where the sections begin

POOL = {
    "word": (0, "i64"),
    "inside": (0, "i32"),  # the lower half, which who waits for workers sleeps on
    "number": (4, "i32"),  # the upper half, which workers sleep on
    "function": (8, "ptr"),
    "arguments": (16, "ptr"),
    "count": (24, "i64"),  # of sections
    "control": (32, "i32"),  # how the processor rounds: that of the thread whose job it is
    "sleepers": (LINE, "i64"),
    "waiting": (2 * LINE, "i64"),
    "busy": (3 * LINE, "i64"),
    "threads": (4 * LINE, "i64"),
    "spin": (4 * LINE + 8, "i64"),
    "started": (4 * LINE + 16, "i64"),
    "ending": (4 * LINE + 24, "i64"),
    "handles": (1024, "i64"),
}
SECTION = {"next": (0, "i64"), "end": (8, "i64")}
SIZE = SECTIONS + MOST * LINE
COMING = 1 << 16  # one more that may come
CLOSED = ~(0xFFFF << 16)

BODY = f"""
@pool = global [{SIZE} x i8] zeroinitializer, align {LINE}
declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

; function(arguments, first, last, worker) for all of 0 .. chunks, by no more than `most` threads
define void @share(ptr %function, ptr %arguments, i64 %chunks, i64 %most) nounwind {{
  %threads.place = place of threads in pool @pool
  %threads = load atomic i64, ptr %threads.place monotonic, align 8
  %allowed = call i64 @llvm.umin.i64(i64 %threads, i64 %most)
  %limit = call i64 @llvm.umin.i64(i64 %allowed, i64 %chunks)
  %several = icmp ugt i64 %limit, 1
  br i1 %several, label %claim, label %alone

claim:
  %busy = place of busy in pool @pool
  %claimed = cmpxchg ptr %busy, i64 0, i64 1 acquire monotonic
  %ours = extractvalue {{i64, i1}} %claimed, 1
  br i1 %ours, label %muster, label %alone

alone: ; one thread will do, or the pool works for another
  call void %function(ptr %arguments, i64 0, i64 %chunks, i64 0)
  ret void

muster:
  %helpers = sub i64 %limit, 1
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
  %end = udiv i64 %end.many, %sections
  %section = call ptr @section(i64 %s)
  %next.place = place of next in section %section
  store i64 %begin, ptr %next.place
  %end.place = place of end in section %section
  store i64 %end, ptr %end.place
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
  br i1 %awake, label %help, label %wake

wake:
  call void @wake_workers(i64 %found)
  br label %help

help:
  call void @work(i64 0)
  %last = atomicrmw and ptr %word, i64 {CLOSED} seq_cst
  br label %watch

watch:
  %turns = phi i64 [0, %help], [%turns.next, %again], [0, %slept]
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

define internal ptr @worker(ptr %argument) nounwind {{
entry:
  %worker = ptrtoint ptr %argument to i64
  %word = place of word in pool @pool
  %sleepers = place of sleepers in pool @pool
  br label %wait

wait: ; for a job with another number than the last
  %known = phi i64 [-1, %entry], [%number, %missed], [%number, %left]
  br label %look

look:
  %turns = phi i64 [0, %wait], [%turns.next, %idle], [0, %slept], [0, %judge]
  %now = load atomic i64, ptr %word acquire, align 8
  %number = lshr i64 %now, 32
  %same = icmp eq i64 %number, %known
  br i1 %same, label %patience, label %changed

patience:
  %spin = spin in pool @pool
  %turns.next = add i64 %turns, 1
  %patient = icmp ult i64 %turns, %spin
  br i1 %patient, label %idle, label %sleep

idle:
  call void @pause()
  br label %look

sleep:
  %one.more = atomicrmw add ptr %sleepers, i64 1 seq_cst
  %number.place = place of number in pool @pool
  %expected = trunc i64 %known to i32
  call void @rest(ptr %number.place, i32 %expected)
  %one.less = atomicrmw sub ptr %sleepers, i64 1 seq_cst
  br label %slept

slept:
  br label %look

changed:
  %ending.place = place of ending in pool @pool
  %ending = load atomic i64, ptr %ending.place monotonic, align 8
  %ends = icmp ne i64 %ending, 0
  br i1 %ends, label %end, label %open

open:
  %coming = and i64 %now, {0xFFFF << 16}
  %full = icmp eq i64 %coming, 0
  br i1 %full, label %missed, label %judge

missed:
  br label %wait

judge:
  %entered = add i64 %now, {1 - COMING}
  %tried = cmpxchg ptr %word, i64 %now, i64 %entered acquire monotonic
  %ours = extractvalue {{i64, i1}} %tried, 1
  br i1 %ours, label %join, label %look

join:
  %control = control in pool @pool
  call void @set_control(i32 %control)
  call void @work(i64 %worker)
  %before = atomicrmw sub ptr %word, i64 1 seq_cst
  %lower = and i64 %before, 4294967295
  %last = icmp eq i64 %lower, 1
  br i1 %last, label %tell, label %left

tell:
  %waiting.place = place of waiting in pool @pool
  %waiting = load atomic i64, ptr %waiting.place seq_cst, align 8
  %awaited = icmp ne i64 %waiting, 0
  br i1 %awaited, label %call, label %left

call:
  %inside.place = place of inside in pool @pool
  call void @wake(ptr %inside.place, i64 1)
  br label %left

left:
  br label %wait

end:
  ret ptr null
}}

; let there be so many workers, or as many as the system gives; signals are for other threads
define internal void @start(i64 %wanted) nounwind {{
  %attributes = alloca [64 x i64]
  %all = alloca [64 x i64]
  %usual = alloca [64 x i64]
  %r1 = call i32 @pthread_attr_init(ptr %attributes)
  %r2 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 {STACK})
  %r3 = call i32 @sigfillset(ptr %all)
  %r4 = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %usual)
  br label %each

each:
  %started = started in pool @pool
  %more = icmp ult i64 %started, %wanted
  br i1 %more, label %one, label %done

one:
  %handles = place of handles in pool @pool
  %handle = getelementptr i64, ptr %handles, i64 %started
  %worker = add i64 %started, 1
  %argument = inttoptr i64 %worker to ptr
  %refused = call i32 @pthread_create(ptr %handle, ptr %attributes, ptr @worker, ptr %argument)
  %made = icmp eq i32 %refused, 0
  br i1 %made, label %next, label %fewer

next:
  %started.place = place of started in pool @pool
  store i64 %worker, ptr %started.place
  br label %each

fewer:
  %threads = place of threads in pool @pool
  store atomic i64 %worker, ptr %threads monotonic, align 8
  br label %done

done:
  %r5 = call i32 @pthread_sigmask(i32 2, ptr %usual, ptr null)
  %r6 = call i32 @pthread_attr_destroy(ptr %attributes)
  ret void
}}

; end all workers, once no job is under way; from then on there may be so many threads
define void @resize(i64 %threads) nounwind {{
  %busy = place of busy in pool @pool
  %ending = place of ending in pool @pool
  %word = place of word in pool @pool
  br label %claim

claim:
  %claimed = cmpxchg ptr %busy, i64 0, i64 1 acquire monotonic
  %ours = extractvalue {{i64, i1}} %claimed, 1
  br i1 %ours, label %end, label %later

later:
  %yielded = call i32 @sched_yield()
  br label %claim

end:
  store atomic i64 1, ptr %ending seq_cst, align 8
  %before = atomicrmw add ptr %word, i64 4294967296 seq_cst
  call void @wake_workers(i64 {MOST})
  %started = started in pool @pool
  br label %each

each:
  %n = phi i64 [0, %end], [%n.next, %one]
  %more = icmp ult i64 %n, %started
  br i1 %more, label %one, label %done

one:
  %handles = place of handles in pool @pool
  %handle.place = getelementptr i64, ptr %handles, i64 %n
  %handle = load i64, ptr %handle.place
  %joined = call i32 @pthread_join(i64 %handle, ptr null)
  %n.next = add i64 %n, 1
  br label %each

done:
  %started.place = place of started in pool @pool
  store i64 0, ptr %started.place
  store atomic i64 0, ptr %ending seq_cst, align 8
  %threads.place = place of threads in pool @pool
  store atomic i64 %threads, ptr %threads.place monotonic, align 8
  store atomic i64 0, ptr %busy release, align 8
  ret void
}}

define void @pauses(i64 %count) nounwind {{
entry:
  br label %each

each:
  %n = phi i64 [0, %entry], [%n.next, %each]
  call void @pause()
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, %count
  br i1 %more, label %each, label %done

done:
  ret void
}}

define internal void @wake_workers(i64 %count) nounwind {{
  %number = place of number in pool @pool
  call void @wake(ptr %number, i64 %count)
  ret void
}}
"""

# Who waits for a number to change sleeps in the kernel; a call costs it nothing but that.
FUTEX = """
define internal void @rest(ptr %place, i32 %expected) nounwind {{
  %r = call i64 (i64, ...) @syscall(i64 {number}, ptr %place, i32 128, i32 %expected, ptr null, ptr null, i32 0)
  ret void
}}

define internal void @wake(ptr %place, i64 %count) nounwind {{
  %many = trunc i64 %count to i32
  %r = call i64 (i64, ...) @syscall(i64 {number}, ptr %place, i32 129, i32 %many, ptr null, ptr null, i32 0)
  ret void
}}
"""

PROCESSORS = {
    "x86_64": """
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal void @pause() nounwind {
  call void @llvm.x86.sse2.pause()
  ret void
}

define internal i32 @control() nounwind {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %found = load i32, ptr %place
  ret i32 %found
}

define internal void @set_control(i32 %control) nounwind {
  %place = alloca i32
  store i32 %control, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
"""
    + FUTEX.format(number=202),
    "aarch64": """
declare void @llvm.aarch64.hint(i32)
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal void @pause() nounwind {
  call void @llvm.aarch64.hint(i32 1)
  ret void
}

define internal i32 @control() nounwind {
  %found = call i64 @llvm.aarch64.get.fpcr()
  %narrow = trunc i64 %found to i32
  ret i32 %narrow
}

define internal void @set_control(i32 %control) nounwind {
  %wide = zext i32 %control to i64
  call void @llvm.aarch64.set.fpcr(i64 %wide)
  ret void
}
"""
    + FUTEX.format(number=98),
}

# Where no threads of ours have been tried.
ALONE = """
define void @share(ptr %function, ptr %arguments, i64 %chunks, i64 %most) nounwind {
  call void %function(ptr %arguments, i64 0, i64 %chunks, i64 0)
  ret void
}
"""


@cache
def pool_body(processor: str) -> str:
    """The IR of `share`, `resize` and `pauses`, with the pool itself."""
    return with_offsets(BODY, {"pool": POOL, "section": SECTION}) + PROCESSORS[processor]
