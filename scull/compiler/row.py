"""Memory that grows while code runs, as functions in LLVM's language.

Rows lie in pieces. Before the rows of a piece stand the piece before it on its stack, how many rows
there is room for, the next one on the list of all that is to be freed, and its address.
"""

from scull.compiler.arena import ALIGNMENT, bytes_of
from scull.compiler.flow import Stack
from scull.lang.expression import Array

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
  %all = add i64 %bytes, {2 * ALIGNMENT}
  %raw = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %nothing, label %note
nothing:
  ret ptr null
note:
  %address = ptrtoint ptr %raw to i64
  %over = add i64 %address, {2 * ALIGNMENT - 1}
  %even = and i64 %over, -{ALIGNMENT}
  %piece = inttoptr i64 %even to ptr
  %at.last = getelementptr i8, ptr %piece, i64 -64
  store ptr %last, ptr %at.last
  %at.room = getelementptr i8, ptr %piece, i64 -56
  store i64 %rows, ptr %at.room
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
LAST, ROOM = -64, -56  # where a piece tells of the one before it, and of how many rows fit


def offsets(stack: Stack) -> tuple[dict[Array, int], int]:
    """Where in a row its fields lie, and how long a row is."""
    found, at = dict[Array, int](), 0
    for array in stack.fields:
        found[array] = at
        at += bytes_of(array)
    return found, max(at, ALIGNMENT)
