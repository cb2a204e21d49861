"""A thread of the pool as LLVM IR: how it starts, waits for jobs, joins them, and ends.

One that sleeps comes late, so a thread keeps a core busy for a while (`patience`) before it does.
Where others want that core the system takes it away from time to time: where that happens more than
50 times a second for long enough, waits are short (`spin`) until it has been seldom for a while.
"""

from scull.runtime.pool_memory import COMING, CPUS, MOST, STACK

USAGE, SWITCHES = 18, 17  # words of what `getrusage` tells, and which counts the cores lost
LOSS, CROWDED, MOST_CROWDED = 20_000_000, 40_000_000, 180_000_000  # nanoseconds without a loss
KNOWN = 4_000_000  # nanoseconds between two waits, at most, of which that is known

WORKER = f"""
declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @getrusage(i32, ptr)
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.usub.sat.i64(i64, i64)

define internal ptr @worker(ptr %argument) nounwind {{
entry:
  %worker = ptrtoint ptr %argument to i64
  %word = place of word in pool @pool
  %sleepers = place of sleepers in pool @pool
  %cpus = alloca [{CPUS // 64} x i64]
  store [{CPUS // 64} x i64] zeroinitializer, ptr %cpus ; a mask of none is refused
  %asked = call i32 @sched_getaffinity(i32 0, i64 {CPUS // 8}, ptr %cpus)
  %usage = alloca [{USAGE} x i64]
  %clock = alloca [2 x i64]
  %lost = alloca i64 ; cores, by now
  %then = alloca i64 ; the time of the last look
  %crowd = alloca i64 ; nanoseconds to go without a loss until nobody wants the core
  store i64 0, ptr %lost
  store i64 0, ptr %then
  store i64 0, ptr %crowd
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
  %decides = icmp eq i64 %turns, %spin
  br i1 %decides, label %decide, label %stay

decide:
  %told = call i32 @getrusage(i32 1, ptr %usage)
  %lost.place = getelementptr i64, ptr %usage, i64 {SWITCHES}
  %lost.now = load i64, ptr %lost.place
  %lost.before = load i64, ptr %lost
  store i64 %lost.now, ptr %lost
  %told.time = call i32 @clock_gettime(i32 1, ptr %clock)
  %seconds = load i64, ptr %clock
  %seconds.far = mul i64 %seconds, 1000000000
  %rest.place = getelementptr i64, ptr %clock, i64 1
  %rest = load i64, ptr %rest.place
  %time = add i64 %seconds.far, %rest
  %time.before = load i64, ptr %then
  store i64 %time, ptr %then
  %gone = sub i64 %time, %time.before
  %passed = call i64 @llvm.umin.i64(i64 %gone, i64 {KNOWN})
  %losses = sub i64 %lost.now, %lost.before
  %worse = mul i64 %losses, {LOSS}
  %crowd.before = load i64, ptr %crowd
  %better = call i64 @llvm.usub.sat.i64(i64 %crowd.before, i64 %passed)
  %sum = add i64 %better, %worse
  %crowd.now = call i64 @llvm.umin.i64(i64 %sum, i64 {MOST_CROWDED})
  store i64 %crowd.now, ptr %crowd
  %calm = icmp ult i64 %crowd.now, {CROWDED}
  br i1 %calm, label %stay, label %sleep

stay:
  %longest = patience in pool @pool
  %patient = icmp ult i64 %turns, %longest
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
  call void @part(ptr %cpus)
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

; leave the CPU of who woke us, if we woke there: the system may take long to see that both are busy
define internal void @part(ptr %cpus) nounwind {{
  %ours = call i32 @sched_getcpu()
  %theirs = cpu in pool @pool
  %same = icmp eq i32 %ours, %theirs
  %known = icmp ult i32 %ours, {CPUS}
  %leaves = and i1 %same, %known
  br i1 %leaves, label %leave, label %done

leave:
  %cpu = zext i32 %ours to i64
  %far = lshr i64 %cpu, 6
  %place = getelementptr i64, ptr %cpus, i64 %far
  %all = load i64, ptr %place
  %shift = and i64 %cpu, 63
  %bit = shl i64 1, %shift
  %rest = xor i64 %bit, -1
  %others = and i64 %all, %rest
  store i64 %others, ptr %place
  %r = call i32 @sched_setaffinity(i32 0, i64 {CPUS // 8}, ptr %cpus)
  store i64 %all, ptr %place
  br label %done

done:
  ret void
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
  %r = call i64 (i64, ...) @syscall(i64 {number}, ptr %place, i32 128, i32 %expected,
    ptr null, ptr null, i32 0)
  ret void
}}

define internal void @wake(ptr %place, i64 %count) nounwind {{
  %many = trunc i64 %count to i32
  %r = call i64 (i64, ...) @syscall(i64 {number}, ptr %place, i32 129, i32 %many,
    ptr null, ptr null, i32 0)
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
