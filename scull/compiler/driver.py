"""The functions of a region: they call kernels, and loops and branches around the calls."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from scull.compiler.act import Clear, Demand, Give, Hand, Read, Write
from scull.compiler.arena import bytes_of
from scull.compiler.assembly import Function
from scull.compiler.flow import CONTROL, Branch, Carry, Loop, Nodes, Stack, controls
from scull.compiler.group import Group
from scull.compiler.home import lying_in
from scull.compiler.kernel import NOTE, arrays_of
from scull.compiler.row import (
    DROP,
    DROPPED,
    LAST,
    LISTS,
    MEMORY,
    ROOM,
    offsets,
    row_bytes,
)
from scull.compiler.share import AS_IT_STANDS, DECLARED, share, shared_function, shared_head
from scull.compiler.split import Code
from scull.lang.dtype import element
from scull.lang.expression import Array
from scull.runtime import llvm
from scull.runtime.entry import STATUS_WORDS

if TYPE_CHECKING:
    from scull.compiler.native import Region

ENTRY, PREPARE = "region", "prepare"  # the functions: of every run, of what comes before the first
WORD, WORDS = 8, 24  # bytes of an address, and of what tells where a list of tensors lies
Phi = tuple[str, str, str]  # the name of a value that changes by the round, its type, its first


def written(region: "Region", code_of: Callable[[Group], Code]) -> list[llvm.Module]:
    """A module with the functions of a region, and one for each kernel; equal ones are one."""
    drivers = [Driver(region, code_of, ENTRY, region.nodes)]
    if region.once:
        drivers.append(Driver(region, code_of, PREPARE, region.once))
    texts = [driver.text() for driver in drivers]
    helpers = [MEMORY] if any(driver.seen or driver.held for driver in drivers) else []
    helpers += [LISTS] if any(driver.held for driver in drivers) else []
    helpers += [DECLARED] if any(driver.shared for driver in drivers) else []
    declared = dict.fromkeys(line for driver in drivers for line in driver.declared)
    kernels = {name: module for driver in drivers for name, module in driver.kernels.items()}
    exports = [driver.name for driver in drivers]
    if any(isinstance(node, Give) for node in controls(region.nodes)):
        helpers.append(DROPPED)
        exports.append(DROP)
    module = llvm.Module("\n".join([*declared, *helpers, *texts]), tuple(exports))
    return [*kernels.values(), module]


class Places(dict[Array, str]):
    """The addresses of arrays where we are.

    Those that lie still are found anew wherever they are asked for: made at the entry they would
    wait on the stack, and LLVM takes long over values that live long. `still` has by array where
    that is, so many bytes behind what, and whether its address stands there.
    """

    def __init__(self, region: "Region", function: Function) -> None:
        super().__init__()
        self.function, edges = function, (*region.inputs, *region.outputs)
        self.still = {x: ("%table", WORD * n, True) for n, x in enumerate(edges, 1)}
        self.still[NOTE] = ("%table", WORD * (1 + len(edges)), False)
        same = {new: old for new, old in region.over.items() if new not in region.late}
        self.still |= {new: self.still[old] for new, old in same.items()}
        self.still |= {x: ("%arena", b.offset, False) for x, b in region.arena.blocks.items()}
        self.still |= {x: ("%lasting", far, False) for x, far in region.arena.lasting.items()}

    def __missing__(self, array: Array) -> str:
        name = "%" + self.function.fresh()
        self.function.lines += self.steps(array, name)
        return name

    def steps(self, array: Array, name: str) -> list[str]:
        """The instructions that find what lies still."""
        base, far, stands = self.still[array]
        at = f"{name}.at" if stands else name
        found = f"  {at} = getelementptr i8, ptr {base}, i64 {far}"
        return [found, f"  {name} = load ptr, ptr {at}"] if stands else [found]


class Driver:
    """Writes a function of a region; `places` are the addresses of arrays where we are."""

    def __init__(
        self, region: "Region", code_of: Callable[[Group], Code], name: str, nodes: Nodes
    ) -> None:
        self.region, self.code_of, self.name, self.nodes = region, code_of, name, nodes
        self.function = Function(f"define void @{name}(ptr %table) {AS_IT_STANDS} {{")
        self.kernels: dict[str, llvm.Module] = {}
        self.declared: list[str] = []
        self.places = Places(region, self.function)
        self.shared = 0  # arrays of the kernel with the most, of those whose chunks threads share
        self.lists: list[str] = []  # of what is allocated; the last is that of where we are
        self.seen: list[str] = []  # all of them
        self.held: dict[Array, str] = {}  # the words of lists of tensors
        self.handed: dict[Array, str] = {}  # the lists of what leaves, by who tells where it lies

    def text(self) -> str:
        """The whole function."""
        region, f = self.region, self.function
        self._edges()
        start = len(f.lines)
        self._leaving()
        self.lists.append(self._list())
        self.write(self.nodes)
        for array in region.late if self.name == ENTRY else ():
            self.copy(self.places[region.over[array]], self.places[array], array)
        f.act("br label %leave")
        f.start("leave")
        for name in self.seen:
            f.act(f"call void @released(ptr {name})")
        f.lines[start:start] = [
            x for n in self.seen for x in (f"  {n} = alloca ptr", f"  store ptr null, ptr {n}")
        ]
        for array, name in self.held.items():
            words = [f"  store [3 x i64] zeroinitializer, ptr {name}"]
            if array in region.inputs:
                given = f"ptr {name}, ptr {name}.given, i64 {WORDS}, i1 false"
                words = self.places.steps(array, f"{name}.given")
                words.append(f"  call void @llvm.memcpy.p0.p0.i64({given})")
            f.lines[start:start] = [f"  {name} = alloca [3 x i64]", *words]
        f.lines[start:start] = shared_head(self.shared, len((*region.inputs, *region.outputs)))
        return f.text()

    def _edges(self) -> None:
        """What memory of the region's own there is."""
        edges, lines = len((*self.region.inputs, *self.region.outputs)), self.function.lines
        lines.append("  %arena = load ptr, ptr %table")
        if self.region.arena.lasts:
            far = WORD * (1 + edges + STATUS_WORDS)
            lines.append(f"  %lasting.at = getelementptr i8, ptr %table, i64 {far}")
            lines.append("  %lasting = load ptr, ptr %lasting.at")

    def _leaving(self) -> None:
        """Lists of their own for what loops keep that leaves the region."""
        for node in controls(self.nodes):
            if isinstance(node, Hand):
                self.seen.append("%" + self.function.fresh("leaving"))
                places = lying_in(self.region.homes, node.place)
                self.handed |= dict.fromkeys(places, self.seen[-1])

    def _list(self) -> str:
        """A new list of what is allocated, if anything of the region is kept in such memory."""
        nodes = list(controls(self.nodes))
        if not any(isinstance(x, Write) or (isinstance(x, Loop) and x.keeps) for x in nodes):
            return ""
        self.seen.append("%" + self.function.fresh("list"))
        return self.seen[-1]

    # ---- nodes ----

    def write(self, nodes: Nodes) -> None:
        """Write nodes in their order."""
        for node in nodes:
            if isinstance(node, Loop):
                self.loop(node)
            elif isinstance(node, Branch):
                self.branch(node)
            elif isinstance(node, Demand):
                self.unless(self.truth(node.condition), note=True)
            elif isinstance(node, Clear | Write | Read | Give):
                self.list_of(node)
            elif isinstance(node, Hand):
                self.hand(node)
            else:
                self.call(node)

    def call(self, group: Group) -> None:
        """Call a kernel; the run ends where it finds an index out of range."""
        code, arrays, f = self.code_of(group), arrays_of(group), self.function
        names = [x.name for x in arrays]
        if code.name not in self.kernels:
            self.kernels[code.name] = llvm.Module(code.text, (code.name,))
            kinds = ", ".join([*["ptr"] * len(arrays), "i64", "i64"])
            self.declared.append(f"declare void @{code.name}({kinds})")
            if code.chunks > 1:
                self.declared.append(shared_function(code, names))
        if code.chunks > 1:
            self.shared = max(self.shared, len(arrays))
            share(f, code, names, [self.places[x] for x in arrays])
        else:
            given = [*(f"ptr {self.places[x]}" for x in arrays), "i64 0", "i64 1"]
            f.act(f"call void @{code.name}({', '.join(given)})")
        if NOTE in arrays:
            found = f.value(f"load i64, ptr {self.places[NOTE]}")
            self.unless(f.value(f"icmp eq i64 {found}, 0"))

    def unless(self, holds: str, *, note: bool = False) -> None:
        """Leave where a condition does not hold, perhaps after a note that the run failed."""
        f, go, fail = self.function, self.function.fresh("go"), self.function.fresh("fail")
        f.act(f"br i1 {holds}, label %{go}, label %{fail if note else 'leave'}")
        if note:
            f.start(fail)
            f.act(f"store i64 1, ptr {self.places[NOTE]}")
            f.act("br label %leave")
        f.start(go)

    def truth(self, condition: Array) -> str:
        """A truth value in memory."""
        found = self.function.value(f"load i8, ptr {self.places[condition]}")
        return self.function.value(f"icmp ne i8 {found}, 0")

    def copy(self, to: str, source: str, array: Array) -> None:
        """Copy the elements of an array."""
        size = array.size * element(array.dtype).itemsize
        self.function.act(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)"
        )

    # ---- lists of tensors ----

    def list_of(self, node: Clear | Write | Read | Give) -> None:
        """What becomes of a list of tensors, which lasts as long as the function."""
        f, places = self.function, self.places
        place = self.held.setdefault(node.place, f"%{node.place.name}.held")
        if isinstance(node, Clear):
            f.act(f"call void @cleared(ptr {place})")
            return
        if isinstance(node, Give):
            count = f.value(f"load i64, ptr {places[node.length]}")
            given = f"ptr {place}, i64 {count}, ptr {places[node.out]}"
            self.unless(f.value(f"call i1 @given({given})"), note=True)
            return
        kind = f"i{8 * element(node.index.dtype).itemsize}"
        number = f.value(f"load {kind}, ptr {places[node.index]}")
        number = number if kind == "i64" else f.value(f"sext {kind} {number} to i64")
        self.unless(f.value(f"icmp sge i64 {number}, 0"), note=True)
        if isinstance(node, Read):
            self.read(node, place, number)
            return
        row = row_bytes(node.x)
        given = f"ptr {self.lists[0]}, ptr {place}, i64 {number}, i64 {row}"
        at = f.value(f"call ptr @reached({given})")
        self.unless(f.value(f"icmp ne ptr {at}, null"), note=True)
        self.copy(at, places[node.x], node.x)
        f.act(f"store i8 1, ptr {f.value(f'getelementptr i8, ptr {at}, i64 {bytes_of(node.x)}')}")

    def read(self, node: Read, place: str, number: str) -> None:
        """What a list of tensors holds, or zeros."""
        f, out = self.function, self.places[node.out]
        at = f.value(f"call ptr @held(ptr {place}, i64 {number}, i64 {row_bytes(node.out)})")
        there = f.value(f"icmp ne ptr {at}, null")
        f.act(f"store i8 {f.value(f'zext i1 {there} to i8')}, ptr {self.places[node.there]}")
        size = node.out.size * element(node.out.dtype).itemsize
        zeros = f"call void @llvm.memset.p0.i64(ptr {out}, i8 0, i64 {size}, i1 false)"
        f.when(there, lambda: self.copy(out, at, node.out))
        f.when(f.value(f"xor i1 {there}, true"), lambda: f.act(zeros))

    def hand(self, node: Hand) -> None:
        """Tell where lies what a loop kept; it is on no list here any more."""
        f, out, pieces = self.function, self.places[node.out], self.handed[node.place]
        self.copy(out, self.places[node.place], node.place)
        first = f.value(f"load ptr, ptr {pieces}")
        f.act(f"store ptr {first}, ptr {f.value(f'getelementptr i8, ptr {out}, i64 16')}")
        f.act(f"store ptr null, ptr {pieces}")

    def branch(self, node: Branch) -> None:
        """One of two bodies; what they leave is where the one that ran left it."""
        f = self.function
        labels, after = [f.fresh("then"), f.fresh("else")], f.fresh("after")
        condition = self.truth(node.condition)
        f.act(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, body, sides in zip(
            labels,
            node.bodies,
            ([c.then for c in node.results], [c.otherwise for c in node.results]),
            strict=True,
        ):
            f.start(label)
            self.write(body)
            ends.append((f.block, [self.places[x] for x in sides]))
            f.act(f"br label %{after}")
        f.start(after)
        for number, choice in enumerate(node.results):
            found = ", ".join(f"[{places[number]}, %{block}]" for block, places in ends)
            self.places[choice.out] = f.value(f"phi ptr {found}")

    def loop(self, node: Loop) -> None:
        """Rounds of a body, and what they hand on."""
        f, keeps = self.function, node.keeps
        pieces = "" if keeps is None else self.handed.get(keeps.place, self.lists[-1])
        turn = Turn(self, node, pieces)
        before, header, body, after = f.block, *(f.fresh(x) for x in ("loop", "round", "done"))
        f.act(f"br label %{header}")
        f.start(header)
        place = len(f.lines)
        f.act(f"br i1 {turn.goes_on()}, label %{body}, label %{after}")
        f.start(body)
        turn.begin()
        own = "" if pieces or not any(isinstance(x, CONTROL) for x in node.body) else self._list()
        self.lists.append(pieces or own or self.lists[-1])
        self.write(node.body)
        if self.lists.pop() == own and own:
            f.act(f"call void @released(ptr {own})")
        following = turn.end()
        last = f.block
        f.act(f"br label %{header}")
        f.lines[place:place] = [
            f"  {name} = phi {kind} [{first}, %{before}], [{value}, %{last}]"
            for (name, kind, first), value in zip(turn.phis, following, strict=True)
        ]
        f.start(after)
        turn.over()


class Turn:
    """What changes from round to round of one loop, and the list of the memory it keeps."""

    def __init__(self, driver: Driver, loop: Loop, pieces: str) -> None:
        self.driver, self.loop, self.function = driver, loop, driver.function
        self.pieces = pieces
        self.phis: list[Phi] = []
        self.following: list[Callable[[], Any]] = []  # their values in the next round, when told
        self.targets: list[tuple[Array, str]] = []  # what is copied in a round, and where to
        self.laid: set[Array] = set()  # what is made where it is kept
        for carry in loop.carries:
            self.carry(carry)
        self.number = self.rows = ""
        if loop.count or loop.most >= 0:
            self.number = self.phi("i64", "0")
        if loop.keeps is not None:
            self.piece, self.rows = self.phi("ptr", "null"), self.phi("i64", "0")
        if loop.undoes is not None:
            at = driver.places[loop.undoes.place]
            first = self.function.value(f"load ptr, ptr {at}")
            self.undone, self.rest = self.phi("ptr", first), self.phi("i64", self.word(at, 8))

    def phi(self, kind: str, first: str) -> str:
        """A value that is another one in each round."""
        name = "%" + self.function.fresh("p")
        self.phis.append((name, kind, first))
        return name

    def carry(self, carry: Carry) -> None:
        """Places for what is handed on: one of its own, or two that change roles."""
        driver, places = self.driver, self.driver.places
        found = [places[x] for x in driver.region.homes.places[carry.now]]
        if len(found) == 1:
            driver.copy(found[0], places[carry.first], carry.now)
            places[carry.now] = places[carry.next] = found[0]
            return
        places[carry.now] = self.phi("ptr", places[carry.first])
        if not found:
            self.following.append(partial(places.__getitem__, carry.next))
            return
        into, other = self.phi("ptr", found[0]), self.phi("ptr", found[1])
        places[carry.next] = into
        self.following += [partial(str, name) for name in (into, other, into)]

    def word(self, at: str, offset: int) -> str:
        """A number in memory."""
        f = self.function
        return f.value(f"load i64, ptr {f.value(f'getelementptr i8, ptr {at}, i64 {offset}')}")

    def goes_on(self) -> str:
        """Whether there is another round."""
        f, loop = self.function, self.loop
        if loop.condition is not None:
            return self.driver.truth(loop.condition)
        if loop.undoes is not None:
            return f.value(f"icmp ne ptr {self.undone}, null")
        return f.value(f"icmp ult i64 {self.number}, {loop.count}")

    def begin(self) -> None:
        """Give the arrays of a round their places; copy what it keeps of those it begins with."""
        f, loop, driver = self.function, self.loop, self.driver
        if loop.most >= 0:
            driver.unless(f.value(f"icmp ult i64 {self.number}, {loop.most}"), note=True)
        for row, whole in loop.reads:
            driver.places[row] = self.row_of(row, whole)
        for row, whole in loop.writes:
            self.lay(row, self.row_of(row, whole))
        if loop.undoes is not None:
            last = f.value(f"sub i64 {self.rest}, 1")
            driver.places |= self.fields_of(loop.undoes, self.undone, last)
        if loop.keeps is not None:
            piece = self.make_room(loop.keeps)
            fields = self.fields_of(loop.keeps, piece, self.rows)
            for field, array in zip(loop.keeps.fields, loop.kept, strict=True):
                self.lay(array, fields[field])
        made = made_by(loop.body)
        for array, at in self.targets:
            if array not in made:
                driver.copy(at, driver.places[array], array)
        self.targets = [pair for pair in self.targets if pair[0] in made]

    def lay(self, array: Array, at: str) -> None:
        """Let an array of a round be made at a place, or be copied there."""
        driver = self.driver
        if array in driver.region.homes.placed and array not in self.laid:
            self.laid.add(array)
            driver.places[array] = at
            return
        self.targets.append((array, at))

    def row_of(self, row: Array, whole: Array) -> str:
        """Where the row of this round lies in a larger array."""
        f, loop, number = self.function, self.loop, self.number
        if loop.backwards:
            number = f.value(f"sub i64 {loop.count - 1}, {number}")
        far = f.value(f"mul i64 {number}, {row.size * element(row.dtype).itemsize}")
        return f.value(f"getelementptr i8, ptr {self.driver.places[whole]}, i64 {far}")

    def fields_of(self, stack: Stack, piece: str, number: str) -> dict[Array, str]:
        """Where the fields of one row of a stack lie."""
        f, (found, size) = self.function, offsets(stack)
        far = f.value(f"mul i64 {number}, {size}")
        row = f.value(f"getelementptr i8, ptr {piece}, i64 {far}")
        return {x: f.value(f"getelementptr i8, ptr {row}, i64 {at}") for x, at in found.items()}

    def make_room(self, stack: Stack) -> str:
        """The piece with a row for this round: a new one where the last one is full."""
        f, driver, piece, rows = self.function, self.driver, self.piece, self.rows
        none = f.value(f"icmp eq ptr {piece}, null")
        room = f.choose(none, "i64", lambda: "0", lambda: self.word(piece, ROOM))
        full = f.value(f"icmp eq i64 {rows}, {room}")
        call = f"call ptr @grown(ptr {self.pieces}, ptr {piece}, i64 {offsets(stack)[1]})"
        found = f.choose(full, "ptr", lambda: f.value(call), lambda: piece)
        driver.unless(f.value(f"icmp ne ptr {found}, null"), note=True)
        self.rows = f.value(f"select i1 {full}, i64 0, i64 {rows}")
        self.room = found
        return found

    def end(self) -> list[str]:
        """Copy what the round keeps; the values of the next one."""
        f, loop, driver = self.function, self.loop, self.driver
        following = [value() for value in self.following]
        for array, at in self.targets:
            driver.copy(at, driver.places[array], array)
        if self.number:
            following.append(f.value(f"add i64 {self.number}, 1"))
        if loop.keeps is not None:
            following += [self.room, f.value(f"add i64 {self.rows}, 1")]
        if loop.undoes is not None:
            rest = f.value(f"sub i64 {self.rest}, 1")
            empty = f.value(f"icmp eq i64 {rest}, 0")
            at = f.value(f"getelementptr i8, ptr {self.undone}, i64 {LAST}")
            last = f.value(f"load ptr, ptr {at}")
            piece = f.value(f"select i1 {empty}, ptr {last}, ptr {self.undone}")
            whole = self.word(self.undone, ROOM)
            half = f.value(f"lshr i64 {whole}, 1")  # the piece before has half as many rows
            following += [piece, f.value(f"select i1 {empty}, i64 {half}, i64 {rest}")]
        return following

    def over(self) -> None:
        """Note how far the stack goes."""
        f, keeps = self.function, self.loop.keeps
        if keeps is None:
            return
        at = self.driver.places[keeps.place]
        piece, rows = (name for name, _, _ in self.phis[-2:])
        f.act(f"store ptr {piece}, ptr {at}")
        f.act(f"store i64 {rows}, ptr {f.value(f'getelementptr i8, ptr {at}, i64 8')}")


def made_by(nodes: Nodes) -> set[Array]:
    """The arrays that a body makes for itself."""
    found = set[Array]()
    for node in nodes:
        found |= set(node.written) if isinstance(node, Group) else node.made
    return found
