"""The machine of the pickle format, for the values Paddle saves and nothing else.

It runs the opcodes itself: what a pickle calls is looked up in the table of `pickle_global.py`,
whose functions only build plain values, and everything not listed is refused before it is used.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from scull.errors import FileError, UnsafeFileError
from scull.files.pickle_global import Global, build_array, build_dtype, find_global
from scull.files.plain import check_key
from scull.files.source import Source


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest pickle that is read; real ones stay far below."""

    opcodes: int = 10_000_000
    stack: int = 5_000_000
    marks: int = 1_000
    integer: int = 128  # bytes of an integer
    name: int = 512  # bytes of a module or a name in it
    depth: int = 100  # of containers in containers
    values: int = 20_000_000  # with every shared container counted as often as it is reached
    compound_keys: int = 4096  # whose hashes can be made to collide: tuples, sets, complex numbers


LIMITS = Limits()
SPARE = 1 << 20  # bytes that may be made of other bytes besides those of the file, once over
EMPTY_SET = 150  # bytes that a set takes more than another empty container

# Calls that make objects of any class, and hooks of the program that reads.
UNSAFE = {
    b"i": "INST",
    b"o": "OBJ",
    b"\x81": "NEWOBJ",
    b"\x92": "NEWOBJ_EX",
    b"P": "PERSID",
    b"Q": "BINPERSID",
    b"\x82": "EXT1",
    b"\x83": "EXT2",
    b"\x84": "EXT4",
    b"\x97": "NEXT_BUFFER",
    b"\x98": "READONLY_BUFFER",
}


class Machine:
    """A pickle being read: its stack, the stacks below its marks, and its memo."""

    def __init__(self, source: Source, limits: Limits = LIMITS) -> None:
        self.source = source
        self.limits = limits
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.unbuilt: dict[int, np.ndarray[Any, Any]] = {}
        self.used: dict[int, bytes] = {}
        self.opcode = source.position
        self.compound_keys = 0
        self.spare = 2 * source.left + SPARE

    def run(self) -> Any:
        """The value of the pickle; the source is left behind it."""
        self.start()
        read, handlers = self.source.take, HANDLERS
        for _ in range(self.limits.opcodes):
            self.opcode = self.source.position
            code = read(1, "an opcode")
            if code == b".":
                return self.result()
            handler = handlers.get(code)
            if handler is None:
                self.refuse_opcode(code)
            handler(self)
            if len(self.stack) > self.limits.stack:
                self.refuse(f"more than {self.limits.stack} values are on the stack")
        self.refuse(f"there are more than {self.limits.opcodes} opcodes")

    def start(self) -> None:
        """Step over the opcode that every pickle of a known protocol begins with."""
        code, version = self.source.take(2, "the protocol")
        if code != 0x80 or not 2 <= version <= 5:
            self.refuse("this is no pickle of protocol 2 to 5")

    def result(self) -> Any:
        if len(self.stack) != 1 or self.below:
            self.refuse("the pickle ends and its stack does not hold one value")
        if self.unbuilt:
            self.refuse("the pickle ends and an array has no elements yet")
        return self.stack[0]

    def refuse(self, law: str) -> NoReturn:
        raise FileError(f"{law}, at byte {self.opcode}")

    def refuse_opcode(self, code: bytes) -> NoReturn:
        name = UNSAFE.get(code)
        if name is None:
            self.refuse(f"{code!r} is no opcode of the pickles Paddle writes")
        self.unsafe(f"the opcode {name} would run code")

    def unsafe(self, law: str) -> NoReturn:
        raise UnsafeFileError(f"{law}, at byte {self.opcode}")

    def spend(self, size: int) -> None:
        """Count bytes that are made of others, so that a small file does not fill the memory."""
        self.spare -= size
        if self.spare < 0:
            self.refuse("the pickle makes far more bytes than it holds")

    # --- the stack

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            self.refuse("the stack is empty")
        return self.stack.pop()

    def top(self, kind: type, what: str) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            self.refuse(f"there is no {what} on the stack")
        return self.stack[-1]

    def pop_text(self, what: str) -> str:
        value = self.pop()
        if type(value) is not str:
            self.refuse(f"{what} is no string")
        return value

    def mark(self) -> None:
        if len(self.below) >= self.limits.marks:
            self.refuse(f"marks nest deeper than {self.limits.marks}")
        self.below.append(self.stack)
        self.stack = []

    def pop_mark(self) -> list[Any]:
        """The values above the last mark."""
        if not self.below:
            self.refuse("there is no mark on the stack")
        values, self.stack = self.stack, self.below.pop()
        return values

    def tuple(self, count: int) -> None:
        if len(self.stack) < count:
            self.refuse("the stack is too short")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    # --- numbers and strings

    def number(self, layout: str) -> None:
        self.push(self.source.unpack(layout, "a number")[0])

    def counted(self, layout: str) -> bytes:
        """Bytes that follow their number."""
        (size,) = self.source.unpack(layout, "the size of a string")
        if size < 0:
            self.refuse(f"a string has {size} bytes")
        return self.source.take(size, "a string")

    def text(self, layout: str) -> None:
        data = self.counted(layout)
        try:
            self.push(data.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError as error:
            self.refuse(f"a string is not UTF-8: {error.reason}")

    def long(self, layout: str) -> None:
        (size,) = self.source.unpack(layout, "the size of an integer")
        if not 0 <= size <= self.limits.integer:
            self.refuse(f"an integer has {size} bytes, {self.limits.integer} are allowed")
        data = self.source.take(size, "an integer")
        self.push(int.from_bytes(data, "little", signed=True))

    def decimal(self) -> None:
        line = self.source.line(self.limits.integer)
        if line in (b"00", b"01"):
            self.push(line == b"01")
            return
        try:
            self.push(int(line.removesuffix(b"L")))
        except ValueError:
            self.refuse("a line is no decimal integer")

    def frame(self) -> None:
        (size,) = self.source.unpack("<Q", "the size of a frame")
        self.source.require(size, "a frame")

    # --- the memo

    def put(self, index: int) -> None:
        if not self.stack:
            self.refuse("the stack is empty")
        self.memo[index] = self.stack[-1]

    def get(self, index: int) -> None:
        if index not in self.memo:
            self.refuse(f"nothing was memoized as {index}")
        self.push(self.memo[index])

    def index(self, layout: str) -> int:
        return int(self.source.unpack(layout, "an index")[0])

    # --- containers

    def append(self, values: list[Any]) -> None:
        self.top(list, "list").extend(values)

    def add(self) -> None:
        values = self.pop_mark()
        target = self.top(set, "set")
        target.update(self.key(value) for value in values)

    def empty_set(self) -> None:
        self.spend(EMPTY_SET)
        self.push(set())

    def frozen(self) -> None:
        self.spend(EMPTY_SET)
        values = self.pop_mark()
        self.push(frozenset(self.key(value) for value in values))

    def set_items(self, values: list[Any]) -> None:
        if not self.stack or type(self.stack[-1]) not in (dict, OrderedDict):
            self.refuse("there is no dictionary on the stack")
        if len(values) % 2:
            self.refuse("a key has no value")
        target = self.stack[-1]
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[self.key(key)] = value

    def key(self, value: Any) -> Any:
        """A value that may be a key: its hash and comparisons take bounded time."""
        if isinstance(value, tuple | frozenset | complex | np.complexfloating):
            self.compound_keys += 1
            if self.compound_keys > self.limits.compound_keys:
                self.refuse(f"more than {self.limits.compound_keys} keys are of several parts")
        law = check_key(value)
        if law:
            self.refuse(law)
        return value

    # --- globals and what is done with them

    def push_global(self, module: str, name: str) -> None:
        found = find_global(module, name)
        if found is None:
            self.unsafe(f"`{module[:200]}.{name[:200]}` is nothing a saved file may name")
        self.push(found)

    def line_global(self) -> None:
        lines = [self.source.line(self.limits.name) for _ in range(2)]
        self.push_global(*(line.decode("utf-8", "replace") for line in lines))

    def stack_global(self) -> None:
        name = self.pop_text("the name of a global")
        self.push_global(self.pop_text("the module of a global"), name)

    def reduce(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(function) is not Global or type(arguments) is not tuple:
            self.refuse("a call has no known function or no tuple of arguments")
        result = self.guarded(function.call, self, arguments)
        if function.unfinished:
            self.unbuilt[id(result)] = result
        self.push(result)

    def build(self) -> None:
        state, target = self.pop(), self.stack[-1] if self.stack else None
        if isinstance(target, np.dtype):
            self.guarded(build_dtype, target, state)
        elif isinstance(target, np.ndarray) and self.unbuilt.pop(id(target), None) is not None:
            self.guarded(build_array, self, target, state)
        else:
            self.unsafe(f"the state of a {type(target).__name__} would be set")

    def guarded(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a call, whose complaints about its arguments are those about the file."""
        try:
            return call(*arguments)
        except FileError:
            raise
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            self.refuse(f"a value cannot be made: {error}")


HANDLERS: dict[bytes, Callable[[Machine], None]] = {
    b"\x95": Machine.frame,
    b"(": Machine.mark,
    b"N": lambda machine: machine.push(None),
    b"\x88": lambda machine: machine.push(True),
    b"\x89": lambda machine: machine.push(False),
    b"I": Machine.decimal,
    b"J": lambda machine: machine.number("<i"),
    b"K": lambda machine: machine.push(machine.source.take(1, "a number")[0]),
    b"M": lambda machine: machine.number("<H"),
    b"\x8a": lambda machine: machine.long("<B"),
    b"\x8b": lambda machine: machine.long("<i"),
    b"G": lambda machine: machine.number(">d"),
    b"X": lambda machine: machine.text("<I"),
    b"\x8c": lambda machine: machine.text("<B"),
    b"\x8d": lambda machine: machine.text("<Q"),
    # Strings of Python 2 are Latin 1 to `paddle.load`.
    b"T": lambda machine: machine.push(machine.counted("<i").decode("latin1")),
    b"U": lambda machine: machine.push(machine.counted("<B").decode("latin1")),
    b"B": lambda machine: machine.push(machine.counted("<I")),
    b"C": lambda machine: machine.push(machine.counted("<B")),
    b"\x8e": lambda machine: machine.push(machine.counted("<Q")),
    b"\x96": lambda machine: machine.push(bytearray(machine.counted("<Q"))),
    b")": lambda machine: machine.push(()),
    b"\x85": lambda machine: machine.tuple(1),
    b"\x86": lambda machine: machine.tuple(2),
    b"\x87": lambda machine: machine.tuple(3),
    b"t": lambda machine: machine.push(tuple(machine.pop_mark())),
    b"]": lambda machine: machine.push([]),
    b"a": lambda machine: machine.append([machine.pop()]),
    b"e": lambda machine: machine.append(machine.pop_mark()),
    b"}": lambda machine: machine.push({}),
    b"s": lambda machine: machine.set_items([machine.pop(), machine.pop()][::-1]),
    b"u": lambda machine: machine.set_items(machine.pop_mark()),
    b"\x8f": Machine.empty_set,
    b"\x90": Machine.add,
    b"\x91": Machine.frozen,
    b"q": lambda machine: machine.put(machine.index("<B")),
    b"r": lambda machine: machine.put(machine.index("<I")),
    b"\x94": lambda machine: machine.put(len(machine.memo)),
    b"h": lambda machine: machine.get(machine.index("<B")),
    b"j": lambda machine: machine.get(machine.index("<I")),
    b"c": Machine.line_global,
    b"\x93": Machine.stack_global,
    b"R": Machine.reduce,
    b"b": Machine.build,
}
