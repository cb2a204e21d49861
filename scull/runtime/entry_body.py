"""The body of every entry, as LLVM IR: what checks the arguments and runs the code.

A record says what one entry is, so that one body serves all: it is made once.
"""

from functools import cache

from scull.errors import UnsupportedError
from scull.runtime.layout import with_offsets

RELEASE, FLUSH = 1, 2  # bits of the options
MISCOUNTED = "the entry takes another number of arguments"

# An object and an ndarray in memory, by offset; probed before it is relied on.
ARRAY = {
    "type": (8, "ptr"),
    "data": (16, "i64"),
    "elements": (16, "ptr"),
    "dimensions": (24, "i32"),
    "shape": (32, "ptr"),
    "dtype": (56, "i64"),
    "flags": (64, "i32"),
}
# What an entry is; then that of each argument, and the sizes of its array.
RECORD = {
    "function": (0, "ptr"),
    "table": (8, "ptr"),
    "answer": (16, "ptr"),
    "options": (24, "i64"),
    "busy": (32, "i64"),
    "status": (40, "ptr"),
    "count": (48, "i64"),
}
ARGUMENT = {
    "dtype": (0, "i64"),
    "flags": (8, "i64"),
    "alignment": (16, "i64"),
    "slot": (24, "ptr"),
    "dimensions": (32, "i64"),
}
LAYOUTS = {"array": ARRAY, "record": RECORD, "argument": ARGUMENT}

BODY = f"""
@ndarray = external global i8
@type_error = external global i8
@refused = external global i8
@busy = external global i8
@failed = external global i8
@miscounted = private constant [{len(MISCOUNTED) + 1} x i8] c"{MISCOUNTED}\\00"
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_SetString(ptr, ptr)
declare void @Py_IncRef(ptr)

define ptr @enter(ptr %self, ptr %given, i64 %count) nounwind {{
  %record = elements in array %self
  %wanted = count in record %record
  %counted = icmp eq i64 %count, %wanted
  br i1 %counted, label %claim, label %miscounted

claim:
  %busy = place of busy in record %record
  %running = load i64, ptr %busy
  %free = icmp eq i64 %running, 0
  br i1 %free, label %begin, label %answer

begin:
  store i64 1, ptr %busy
  %first = getelementptr i64, ptr %record, i64 {len(RECORD)}
  %bare = icmp eq i64 %count, 0
  br i1 %bare, label %checked, label %argument

argument:
  %i = phi i64 [0, %begin], [%i.next, %fits]
  %a = phi ptr [%first, %begin], [%a.next, %fits]
  %each = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %each
  %type = type in array %object
  %exact = icmp eq ptr %type, @ndarray
  br i1 %exact, label %array, label %end

array:
  %dtype = dtype in array %object
  %dtype.wanted = dtype in argument %a
  %dtype.same = icmp eq i64 %dtype, %dtype.wanted
  %flags.narrow = flags in array %object
  %flags = zext i32 %flags.narrow to i64
  %flags.wanted = flags in argument %a
  %flags.found = and i64 %flags, %flags.wanted
  %flags.same = icmp eq i64 %flags.found, %flags.wanted
  %data = data in array %object
  %alignment = alignment in argument %a
  %over = and i64 %data, %alignment
  %aligned = icmp eq i64 %over, 0
  %dimensions.narrow = dimensions in array %object
  %dimensions = zext i32 %dimensions.narrow to i64
  %dimensions.wanted = dimensions in argument %a
  %dimensions.same = icmp eq i64 %dimensions, %dimensions.wanted
  %one = and i1 %dtype.same, %flags.same
  %two = and i1 %aligned, %dimensions.same
  %alike = and i1 %one, %two
  br i1 %alike, label %store, label %end

store:
  %slot = slot in argument %a
  store i64 %data, ptr %slot
  %sizes = shape in array %object
  %sizes.wanted = getelementptr i64, ptr %a, i64 {len(ARGUMENT)}
  br label %axis

axis:
  %k = phi i64 [0, %store], [%k.next, %size]
  %more = icmp ult i64 %k, %dimensions
  br i1 %more, label %size, label %fits

size:
  %found.place = getelementptr i64, ptr %sizes, i64 %k
  %found = load i64, ptr %found.place
  %expected.place = getelementptr i64, ptr %sizes.wanted, i64 %k
  %expected = load i64, ptr %expected.place
  %k.next = add i64 %k, 1
  %equal = icmp eq i64 %found, %expected
  br i1 %equal, label %axis, label %end

fits:
  %a.next = getelementptr i64, ptr %sizes.wanted, i64 %dimensions
  %i.next = add i64 %i, 1
  %others = icmp ult i64 %i.next, %count
  br i1 %others, label %argument, label %checked

checked:
  %options = options in record %record
  %releases.bit = and i64 %options, {RELEASE}
  %releases = icmp ne i64 %releases.bit, 0
  br i1 %releases, label %released, label %held

released:
  %thread = call ptr @PyEval_SaveThread()
  call void @perform(ptr %record)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %done

held:
  call void @perform(ptr %record)
  br label %done

done:
  %own = answer in record %record
  %status = status in record %record
  %silent = icmp eq ptr %status, null
  br i1 %silent, label %end, label %look

look:
  %code = load i64, ptr %status
  %fine = icmp eq i64 %code, 0
  %seen = select i1 %fine, ptr %own, ptr @failed
  br label %end

end:
  %result = phi ptr [%own, %done], [%seen, %look],
    [@refused, %argument], [@refused, %array], [@refused, %size]
  store i64 0, ptr %busy
  br label %answer

answer:
  %last = phi ptr [%result, %end], [@busy, %claim]
  call void @Py_IncRef(ptr %last)
  ret ptr %last

miscounted:
  call void @PyErr_SetString(ptr @type_error, ptr @miscounted)
  ret ptr null
}}

define void @perform(ptr %record) nounwind {{
  %function = function in record %record
  %table = table in record %record
  %status = status in record %record
  %silent = icmp eq ptr %status, null
  br i1 %silent, label %choose, label %clear

clear:
  store i64 0, ptr %status
  br label %choose

choose:
  %options = options in record %record
  %flushes.bit = and i64 %options, {FLUSH}
  %flushes = icmp ne i64 %flushes.bit, 0
  br i1 %flushes, label %flushed, label %plain

plain:
  call void %function(ptr %table)
  ret void

flushed:
  %before = call i32 @flush()
  call void %function(ptr %table)
  call void @restore(i32 %before)
  ret void
}}
"""

# Numbers too small for a full mantissa become zero in this thread; what was before is given back.
FLUSHING = {
    "x86_64": """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i32 @flush() nounwind {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %before = load i32, ptr %place
  %flushing = or i32 %before, 32832 ; results and operands: bits 15 and 6
  store i32 %flushing, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret i32 %before
}

define internal void @restore(i32 %before) nounwind {
  %place = alloca i32
  store i32 %before, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
""",
    "aarch64": """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i32 @flush() nounwind {
  %before = call i64 @llvm.aarch64.get.fpcr()
  %flushing = or i64 %before, 16777216 ; bit 24
  call void @llvm.aarch64.set.fpcr(i64 %flushing)
  %narrow = trunc i64 %before to i32
  ret i32 %narrow
}

define internal void @restore(i32 %before) nounwind {
  %wide = zext i32 %before to i64
  call void @llvm.aarch64.set.fpcr(i64 %wide)
  ret void
}
""",
}
PROCESSORS = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def processor(triple: str) -> str:
    """The kind of processor a triple begins with."""
    name = triple.split("-")[0]
    if name not in PROCESSORS:
        raise UnsupportedError(f"no entry has been written for {name}: programs run on NumPy")
    return PROCESSORS[name]


@cache
def entry_body(triple: str) -> str:
    """The IR of the functions `enter`, a builtin's, and `perform`, of a record."""
    return with_offsets(BODY, LAYOUTS) + FLUSHING[processor(triple)]
