"""One trial: a real file is changed at random, and what reads it gives a value or a typed error.

`trial(seed, number)` does the same each time; `python -m tools.fuzz` does many.
"""

import io
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import scull as paddle
from scull.core.meta import Kind
from scull.deferred import load
from scull.errors import ScullError
from scull.files.model import load_model, persistables
from scull.files.program import bytes_of, program_of
from scull.files.property import properties_of
from scull.files.saved import read_folder
from scull.files.tensor_stream import read_combined, read_rows, read_tensor, write_separate
from scull.flags import flags
from scull.ir.verify import verify
from scull.runtime.scope import Scope
from tests.files.fuzz.program import changed
from tests.files.fuzz.raw import pickled, raw, record, tensors

DATA = Path(__file__).resolve().parents[2] / "data"
FOLDERS = ("files", "jit", "models")
LARGEST = 11_000  # bytes of a Program that is changed
MEMORY, ROUNDS = 1 << 26, 50  # that a run of a changed Program may take
FORMS: dict[str, tuple[Any, ...]] = {  # ways in which a Program is run
    "CONTROL_FLOW": ("in-graph",) * 5 + ("primitives", "unrolled", "unrolled+primitives"),
    "SCHEDULE_SEED": (-1, -1, 1),
    "POISON": (False, False, True),
    "MAX_MEMORY": (MEMORY, 0),
}

Trial = Callable[[Random], str]
watched: Callable[[], Any] = nullcontext  # around what reads; `audited.py` looks closer there
TRIALS: dict[str, tuple[int, Trial]] = {}


class Broken(Exception):
    """A trial broke the law."""


def trials(weight: int) -> Callable[[Trial], Trial]:
    """Note one kind of trial, and how often it is done; 0: only where it is asked for."""

    def noted(function: Trial) -> Trial:
        TRIALS[function.__name__] = weight, function
        return function

    return noted


def trial(seed: int, number: int, only: str = "") -> tuple[str, str]:
    """The kind of a trial and how it ended; an exception that is not scull's own is let through."""
    random = Random(f"{seed}:{number}")
    kind = only or random.choices(list(TRIALS), [weight for weight, _ in TRIALS.values()])[0]
    try:
        return kind, TRIALS[kind][1](random)
    except ScullError as error:
        return kind, type(error).__name__


class Base(NamedTuple):
    """A saved model: its Program and its values."""

    program: bytes
    values: bytes


@cache
def files(*suffixes: str) -> tuple[bytes, ...]:
    """The files of the reference that end with one of these."""
    return tuple(p.read_bytes() for s in suffixes for p in small_ones(s))


def small_ones(suffix: str) -> list[Path]:
    """Where the files of one kind are that are small."""
    found = (p for folder in FOLDERS for p in sorted((DATA / folder).glob(f"*{suffix}")))
    return [p for p in found if p.stat().st_size < LARGEST]


@cache
def models() -> tuple[Base, ...]:
    """Models with their values."""
    beside = [(p, p.with_suffix(".pdiparams")) for p in small_ones(".pdmodel")]
    return tuple(Base(p.read_bytes(), v.read_bytes() if v.exists() else b"") for p, v in beside)


@cache
def prefixes() -> tuple[Path, ...]:
    """Where the files of small models with layers are, without suffix."""
    return tuple(sorted(p.with_suffix("") for p in (DATA / "jit").glob("*.pdmodel")))


def programs() -> tuple[bytes, ...]:
    return files(".pdmodel", ".program", ".pb")


def a_program(random: Random) -> bytes:
    """A saved Program; one of half the size twice as often, so that all take as much time."""
    return random.choices(programs(), [1 / len(data) for data in programs()])[0]


def a_model(random: Random) -> Base:
    """A saved model, chosen as Programs are."""
    return random.choices(models(), [1 / len(base.program) for base in models()])[0]


# ---- loading ----


def damaged(random: Random, data: bytes) -> bytes:
    """A Program changed in its messages, in its bytes, or in both."""
    if random.random() < 0.75:
        data = changed(random, data)[0]
        return data if random.random() < 0.9 else raw(random, data)
    return raw(random, data, programs())


@trials(40)
def program(random: Random) -> str:
    """A Program alone: what is read can be shown, written and read again."""
    data = damaged(random, a_program(random))
    with watched():
        found = program_of(data)
        written = bytes_of(found)
        again = program_of(written)
        shown = str(found)
    if bytes_of(again) != written or not shown:
        raise Broken("a Program that is written and read again is another")
    return "read and shown"


@trials(12)
def model(random: Random) -> str:
    """A model whose Program or values are damaged."""
    base = a_model(random)
    program, values = base
    if random.random() < 0.6:
        program = damaged(random, program)
    if random.random() < 0.5:
        values = random.choice((tensors, raw))(random, values)
    with watched():
        load_model(program, io.BytesIO(values), "the bytes given", Scope())
    return "loaded"


@trials(4)
def predictor(random: Random) -> str:
    """A predictor of a damaged model."""
    base = a_model(random)
    program = damaged(random, base.program)
    config = paddle.inference.Config()
    config.set_model_buffer(program, len(program), base.values, len(base.values))
    with watched():
        paddle.inference.create_predictor(config)
    return "made"


@trials(4)
def layer(random: Random) -> str:
    """A layer of several files, one of which is damaged."""
    prefix = random.choice(prefixes())
    own = sorted(p for p in prefix.parent.glob(f"{prefix.name}.*") if p.suffix != ".npz")
    wrong = random.choice(own)
    with tempfile.TemporaryDirectory() as folder:
        for path in own:
            data = path.read_bytes()
            if path == wrong:
                data = damaged_file(random, path.suffix, data)
            Path(folder, path.name).write_bytes(data)
        with watched():
            paddle.jit.load(str(Path(folder, prefix.name)))
    return "loaded"


def damaged_file(random: Random, suffix: str, data: bytes) -> bytes:
    """A damaged file of any kind."""
    ways: dict[str, Any] = {".pdmodel": damaged, ".info": pickled, ".pdiparams": tensors}
    return bytes(ways.get(suffix, raw)(random, data))


@trials(2)
def folder(random: Random) -> str:
    """A model in a folder with a file a value."""
    base = random.choice([b for b in models() if b.values])
    names = [v.name for v in persistables(program_of(base.program))]
    values = read_combined(io.BytesIO(base.values), names)
    with tempfile.TemporaryDirectory() as place:
        write_separate(place, values)
        victim = Path(place, random.choice(names))
        victim.write_bytes(random.choice((tensors, raw))(random, victim.read_bytes()))
        if random.random() < 0.2:
            victim.unlink()
        wrong = random.random() < 0.3
        Path(place, "__model__").write_bytes(
            damaged(random, base.program) if wrong else base.program
        )
        with watched():
            read_folder(place, None, None)
    return "read"


@trials(16)
def pickle(random: Random) -> str:
    """A pickle with its bytes or its opcodes changed."""
    data = random.choice(files(".pickle", ".pdparams", ".pdopt", ".info"))
    data = (pickled if random.random() < 0.7 else raw)(random, data)
    with watched():
        paddle.load(io.BytesIO(data), return_numpy=random.random() < 0.5)
    return "read"


@trials(10)
def tensor(random: Random) -> str:
    """One tensor, or some rows of one."""
    data = (tensors if random.random() < 0.5 else raw)(random, random.choice(files(".tensor")))
    reader: Any = read_rows if random.random() < 0.3 else read_tensor
    with watched():
        reader(io.BytesIO(data))
    return "read"


@trials(4)
def properties(random: Random) -> str:
    """What is said of a layer."""
    data = raw(random, random.choice(files(".meta")))
    with watched():
        properties_of(data)
    return "read"


@trials(2)
def commit(random: Random) -> str:
    """The record of the files that belong together."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder, "linear"))
        save_small(prefix)
        path = Path(folder, ".linear.commit")
        path.write_bytes((record if random.random() < 0.8 else raw)(random, path.read_bytes()))
        with watched():
            paddle.jit.load(prefix)
    return "loaded"


@cache
def small_files() -> dict[str, bytes]:
    """The files of a small layer as scull saves it, the record too."""
    with tempfile.TemporaryDirectory() as folder:
        spec = [paddle.static.InputSpec([None, 2], "float32")]
        paddle.jit.save(paddle.nn.Linear(2, 1), str(Path(folder, "linear")), input_spec=spec)
        return {p.name: p.read_bytes() for p in Path(folder).iterdir()}


def save_small(prefix: str) -> None:
    for name, data in small_files().items():
        Path(prefix).with_name(name).write_bytes(data)


# ---- running ----


@trials(30)
def run(random: Random) -> str:
    """A damaged Program that was read runs, or raises an error of scull's own."""
    scope = Scope()
    if random.random() < 0.5:
        base = a_model(random)
        data = changed(random, base.program)[0]
        found = load_model(data, io.BytesIO(base.values), "the bytes given", scope).program
    else:
        found = program_of(changed(random, a_program(random))[0])
        fill(random, found, scope)
    return outcome(random, found, scope, feed_of(random, found))


@trials(0)
def written(random: Random) -> str:
    """A Program written at random, with a little changed, that was read runs or raises."""
    made = load("tests.files.fuzz.graph", "written")(random)
    found = program_of(made.program)
    feed, declared, scope = made.feed, found.global_block().vars, Scope()
    if random.random() < 0.2:  # what fits the inputs as they are declared now
        feed = {n: small(random, declared[n]) for n in feed if n in declared}
    fill(random, found, scope)
    return outcome(random, found, scope, feed)


def fill(random: Random, program: Any, scope: Scope) -> None:
    """Give a scope a value for each variable that needs one."""
    for v in persistables(program):
        if v.kind is Kind.DENSE:
            scope.var(v.name).value = small(random, v)


def outcome(random: Random, program: Any, scope: Scope, feed: dict[str, Any]) -> str:
    """How a run of a Program in any form ends."""
    block = program.global_block()
    made = [v for o in block.ops for v in o.results() if v.kind is Kind.DENSE]
    fetched = [v.name for v in random.sample(made, min(3, len(made)))]
    legal = "" if is_legal(program) else "against a rule of shapes, "
    form = {name: random.choice(values) for name, values in FORMS.items()}
    try:
        with watched(), flags(MAX_ROUNDS=ROUNDS, **form):
            paddle.static.Executor().run(program, feed=feed, fetch_list=fetched, scope=scope)
    except ScullError as error:
        return f"{legal}raised {type(error).__name__}"
    return f"{legal}ran"


def is_legal(program: Any) -> bool:
    """Whether what a Program says of shapes and element types is what its operators give."""
    try:
        verify(program)
    except ScullError:
        return False
    return True


def feed_of(random: Random, program: Any) -> dict[str, Any]:
    """A value for each input of a Program."""
    inputs = program.global_block().vars.values()
    fed = [v for v in inputs if v.is_data or (v.op and v.op.type == "feed")]
    return {v.name: small(random, v) for v in fed if v.kind is Kind.DENSE}


def small(random: Random, v: Any) -> Any:
    """A value for a variable, of no more than a few thousand elements."""
    sizes = [random.choice((1, 2, 3)) if n == -1 else n for n in v.shape]
    if np.prod([max(float(n), 1) for n in sizes]) > 5000:
        sizes = [min(n, 2) for n in sizes][:8]
    numbers = np.random.default_rng(random.randrange(1 << 32)).uniform(-2, 3, sizes)
    return numbers.astype(v.dtype.array)
