"""Memory that grows while code runs, as functions in LLVM's language.

Rows lie in pieces. Before the rows of a piece stand the piece before it on its stack, how many rows
there is room for, the next one on the list of all that is to be freed, and its address.

A list of tensors lies in one piece, which a larger one replaces. Three words tell where it is, for
how many rows there is room, and how long a row is; its last LINE bytes begin with a truth
value, whether anything was written there.
"""

import ctypes
from collections.abc import Callable
from functools import cache

from scull.compiler.arena import bytes_of
from scull.compiler.flow import Stack
from scull.lang.expression import Array
from scull.runtime import llvm
from scull.runtime.line import LINE

FIRST_ROWS = 16
MEMORY = f"""
declare ptr @malloc(i64)
declare void @free(ptr)

; a piece with room for twice the rows of the last one; null where there is no more memory
define internal ptr @grown(ptr %list, ptr %last, i64 %row) nounwind {{
entry:
  %none = icmp eq ptr %last, null
  br i1 %none, label %size, label %twice
twice:
  %last.room = getelementptr i8, ptr %last, i64 -56
  %before = load i64, ptr %last.room
  %doubled = shl i64 %before, 1
  br label %size
size:
  %rows = phi i64 [{FIRST_ROWS}, %entry], [%doubled, %twice]
  %bytes = mul i64 %rows, %row
  %piece = call ptr @taken(ptr %list, i64 %bytes)
  %failed = icmp eq ptr %piece, null
  br i1 %failed, label %nothing, label %note
nothing:
  ret ptr null
note:
  %at.last = getelementptr i8, ptr %piece, i64 -64
  store ptr %last, ptr %at.last
  %at.room = getelementptr i8, ptr %piece, i64 -56
  store i64 %rows, ptr %at.room
  ret ptr %piece
}}

; a piece of so many bytes on a list; null where there is no more memory
define internal ptr @taken(ptr %list, i64 %bytes) nounwind {{
entry:
  %all = add i64 %bytes, {2 * LINE}
  %raw = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %nothing, label %note
nothing:
  ret ptr null
note:
  %address = ptrtoint ptr %raw to i64
  %over = add i64 %address, {2 * LINE - 1}
  %even = and i64 %over, -{LINE}
  %piece = inttoptr i64 %even to ptr
  %at.next = getelementptr i8, ptr %piece, i64 -48
  %next = load ptr, ptr %list
  store ptr %next, ptr %at.next
  %at.raw = getelementptr i8, ptr %piece, i64 -40
  store ptr %raw, ptr %at.raw
  store ptr %piece, ptr %list
  ret ptr %piece
}}

; all pieces of a list go
define internal void @released(ptr %list) nounwind {{
entry:
  %first = load ptr, ptr %list
  br label %look
look:
  %piece = phi ptr [%first, %entry], [%next, %drop]
  %done = icmp eq ptr %piece, null
  br i1 %done, label %end, label %drop
drop:
  %at.next = getelementptr i8, ptr %piece, i64 -48
  %next = load ptr, ptr %at.next
  %at.raw = getelementptr i8, ptr %piece, i64 -40
  %raw = load ptr, ptr %at.raw
  call void @free(ptr %raw)
  br label %look
end:
  store ptr null, ptr %list
  ret void
}}
"""
LISTS = f"""
; the row of a list of tensors that is to be written, which has room for it then; null where there
; is no more memory, or no such row
define internal ptr @reached(ptr %list, ptr %place, i64 %number, i64 %row) nounwind {{
entry:
  %few = icmp ult i64 %number, {1 << 31}
  %at.room = getelementptr i8, ptr %place, i64 8
  %room = load i64, ptr %at.room
  br i1 %few, label %look, label %nothing
look:
  %old = load ptr, ptr %place
  %fits = icmp ult i64 %number, %room
  br i1 %fits, label %found, label %grow
grow:
  %wanted = add i64 %number, {FIRST_ROWS}
  %doubled = shl i64 %room, 1
  %more = icmp ugt i64 %doubled, %wanted
  %rows = select i1 %more, i64 %doubled, i64 %wanted
  %bytes = mul i64 %rows, %row
  %fresh = call ptr @taken(ptr %list, i64 %bytes)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %nothing, label %move
move:
  %kept = mul i64 %room, %row
  call void @llvm.memcpy.p0.p0.i64(ptr %fresh, ptr %old, i64 %kept, i1 false)
  %rest = getelementptr i8, ptr %fresh, i64 %kept
  %new = sub i64 %bytes, %kept
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 %new, i1 false)
  store ptr %fresh, ptr %place
  store i64 %rows, ptr %at.room
  %at.row = getelementptr i8, ptr %place, i64 16
  store i64 %row, ptr %at.row
  br label %found
found:
  %rows.at = phi ptr [%old, %look], [%fresh, %move]
  %far = mul i64 %number, %row
  %at = getelementptr i8, ptr %rows.at, i64 %far
  ret ptr %at
nothing:
  ret ptr null
}}

; the row of a list of tensors; null where nothing was written there
define internal ptr @held(ptr %place, i64 %number, i64 %row) nounwind {{
entry:
  %at.room = getelementptr i8, ptr %place, i64 8
  %room = load i64, ptr %at.room
  %inside = icmp ult i64 %number, %room
  br i1 %inside, label %look, label %nothing
look:
  %rows = load ptr, ptr %place
  %far = mul i64 %number, %row
  %at = getelementptr i8, ptr %rows, i64 %far
  %mark = sub i64 %row, {LINE}
  %at.mark = getelementptr i8, ptr %at, i64 %mark
  %there = load i8, ptr %at.mark
  %written = icmp ne i8 %there, 0
  %found = select i1 %written, ptr %at, ptr null
  ret ptr %found
nothing:
  ret ptr null
}}

; nothing was written to a list of tensors
define internal void @cleared(ptr %place) nounwind {{
entry:
  %at.room = getelementptr i8, ptr %place, i64 8
  %room = load i64, ptr %at.room
  %at.row = getelementptr i8, ptr %place, i64 16
  %row = load i64, ptr %at.row
  %rows = load ptr, ptr %place
  %mark = sub i64 %row, {LINE}
  br label %look
look:
  %number = phi i64 [0, %entry], [%following, %drop]
  %more = icmp ult i64 %number, %room
  br i1 %more, label %drop, label %end
drop:
  %far = mul i64 %number, %row
  %place.of = add i64 %far, %mark
  %at = getelementptr i8, ptr %rows, i64 %place.of
  store i8 0, ptr %at
  %following = add i64 %number, 1
  br label %look
end:
  ret void
}}

; a copy of so many rows of a list of tensors, and its three words at %out; false: no more memory
define internal i1 @given(ptr %place, i64 %count, ptr %out) nounwind {{
entry:
  %rows = load ptr, ptr %place
  %at.row = getelementptr i8, ptr %place, i64 16
  %row = load i64, ptr %at.row
  %bytes = mul i64 %count, %row
  %all = add i64 %bytes, 1
  %copy = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %copy, null
  br i1 %failed, label %nothing, label %note
nothing:
  ret i1 false
note:
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %rows, i64 %bytes, i1 false)
  store ptr %copy, ptr %out
  %at.count = getelementptr i8, ptr %out, i64 8
  store i64 %count, ptr %at.count
  %at.long = getelementptr i8, ptr %out, i64 16
  store i64 %row, ptr %at.long
  ret i1 true
}}
"""
DROP = "drop"  # the function that frees what was given
DROPPED = f"""
define void @{DROP}(ptr %copy) nounwind {{
entry:
  call void @free(ptr %copy)
  ret void
}}
"""
RELEASE = """
define void @release(ptr %first) nounwind {
entry:
  %list = alloca ptr
  store ptr %first, ptr %list
  call void @released(ptr %list)
  ret void
}
"""
LAST, ROOM = -64, -56  # where a piece tells of the one before it, and of how many rows fit


@cache
def release() -> Callable[[int], None]:
    """A function that frees all pieces of a list that was handed on, given the first.

    It lasts as long as the process: the code that made them may go with whoever holds them.
    """
    library = llvm.build([llvm.Module(MEMORY + RELEASE, ("release",))])
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.addresses["release"])

    def released(first: int, library: llvm.Library = library) -> None:
        call(first)

    return released


def offsets(stack: Stack) -> tuple[dict[Array, int], int]:
    """Where in a row its fields lie, and how long a row is."""
    found, at = dict[Array, int](), 0
    for array in stack.fields:
        found[array] = at
        at += bytes_of(array)
    return found, max(at, LINE)


def row_bytes(array: Array) -> int:
    """How long a row of a list of such tensors is."""
    return bytes_of(array) + LINE
