"""LLVM, loaded when first asked for: text IR to machine code in memory.

`import scull` never loads llvmlite. Where it has no wheel `available()` is False, and says so once.

What must live as long as the code may run is held by what can run it: a `Library` keeps its code,
an entry keeps its library and the table of buffers it passes.
"""

import atexit
import ctypes
import importlib
import importlib.util
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scull.errors import ArgumentError, UnsupportedError
from scull.flags import flag
from scull.runtime.object_cache import key_of, object_cache

NOTICE = "llvmlite does not load: programs run on NumPy kernels, slower (`pip install llvmlite`)"
OPTIONS = {"opt": 3, "reloc": "pic", "codemodel": "jitdefault", "jit": True}  # of code generation

# x86-64 by what its vectors are, each with the CPU that LLVM tunes for
LEVELS = {
    "amx": ("x86-64-v4", ("amx-tile", "amx-bf16", "avx512bf16")),
    "avx512bf16": ("x86-64-v4", ("avx512bf16",)),
    "avx512": ("x86-64-v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    "avx2": ("x86-64-v3", ("avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe")),
    "generic": ("x86-64", ()),
}

_numbers = itertools.count()

# Held while LLVM loads or works: a process must neither fork nor end meanwhile. It is not released
# at the end, when what LLVM works with is destroyed.
working = threading.RLock()
_leaving: list[Any] = []

atexit.register(working.acquire)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=working.acquire,
        after_in_parent=working.release,
        after_in_child=working.release,
    )


@dataclass(frozen=True)
class Target:
    """A machine and the version of LLVM: all that code depends on besides its text."""

    triple: str
    cpu: str
    features: str
    version: str

    def has(self, feature: str) -> bool:
        """Whether code may use a feature, such as `avx2`."""
        return f"+{feature}" in _listed(self.features)


@cache
def _listed(features: str) -> frozenset[str]:
    return frozenset(features.split(","))


@dataclass(frozen=True)
class Module:
    """Text IR compiled as one, and the names of its functions that are to be found.

    What the modules of a library call of one another is `declare`d in the text; names that several
    define are `internal`.
    """

    text: str
    exports: tuple[str, ...] = ()


def _unload(leaving: list[Any] = _leaving) -> None:
    """Free the code of libraries that are gone; LLVM works for nobody else."""
    while leaving:
        leaving.pop()


class Library:
    """Machine code in memory. Its addresses are good as long as it lives."""

    def __init__(self, tracker: Any, names: Iterable[str], codes: tuple[bytes, ...]) -> None:
        self._tracker = tracker
        self.codes = codes
        self.addresses: dict[str, int] = {name: tracker[name] for name in names}

    # at the end of the process the names of this module may be gone before
    def __del__(
        self,
        leaving: list[Any] = _leaving,
        working: threading.RLock = working,
        unload: Callable[[], None] = _unload,
    ) -> None:
        # freeing now could wait for LLVM, wherever the collector happens to run
        leaving.append(self.__dict__.pop("_tracker", None))
        if working.acquire(blocking=False):
            unload()
            working.release()


def available() -> bool:
    """Whether code can be compiled here; the first time it cannot, a notice tells."""
    if _loads():
        return True
    _notice()
    return False


@cache
def _loads() -> bool:
    """Whether llvmlite can be used: it may be missing, or its library, or that be another."""
    try:
        importlib.import_module("llvmlite.binding")
    except (ImportError, OSError, RuntimeError):
        return False
    return True


@cache
def _notice() -> None:
    warnings.warn(NOTICE, stacklevel=3)


@cache
def binding() -> Any:
    """llvmlite's binding, initialised."""
    if not available():
        raise UnsupportedError(NOTICE)
    with working:
        llvm = importlib.import_module("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    return llvm


@cache
def host() -> Target:
    """This machine."""
    with working:
        llvm = binding()
        version = ".".join(str(number) for number in llvm.llvm_version_info)
        features = llvm.get_host_cpu_features().flatten()
        return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, version)


def levels() -> tuple[str, ...]:
    """The levels of vectors whose code runs on this machine, the widest first.

    None is wider than the flag VECTORS says.
    """
    most, names = flag("VECTORS"), list(LEVELS)
    if most and most not in names:
        raise ArgumentError(f"VECTORS is {most!r}: it is one of {', '.join(names)}")
    if not host().triple.startswith("x86_64"):
        return ("generic",)
    wanted = names[names.index(most) :] if most else names
    found = tuple(name for name in wanted if all(map(host().has, LEVELS[name][1])))
    return found if "amx" not in found or (flag("AMX") and _may_use_tiles()) else found[1:]


@cache
def _may_use_tiles() -> bool:
    """Whether Linux lets this process use the registers of AMX: it has to be asked once.

    Linux, "Using XSTATE features in user space applications": ARCH_REQ_XCOMP_PERM.
    """
    arch_prctl, request, tile_data = 158, 0x1023, 18
    if sys.platform != "linux":
        return False
    return not ctypes.CDLL(None).syscall(arch_prctl, request, tile_data)


def target(level: str) -> Target:
    """This machine as if it had no more than `level` of LEVELS; its code runs here."""
    if level not in levels():
        raise ArgumentError(f"this machine runs {', '.join(levels())}; not {level!r}")
    if not host().triple.startswith("x86_64"):
        return replace(host(), cpu="generic", features="")
    names = list(LEVELS)
    needs = [x for name in names[names.index(level) :] for x in LEVELS[name][1]]
    return replace(host(), cpu=LEVELS[level][0], features=",".join(f"+{x}" for x in needs))


@cache
def _machine(target: Target) -> Any:
    found = binding().Target.from_triple(target.triple)
    return found.create_target_machine(cpu=target.cpu, features=target.features, **OPTIONS)


@cache
def _linker() -> Any:
    return binding().create_lljit_compiler(_machine(host()))


@contextmanager
def _parsed(text: str, target: Target) -> Iterator[Any]:
    """A module of LLVM, in a context of its own; both are gone before LLVM stops working."""
    llvm = binding()
    with working, llvm.create_context() as context:
        _unload()
        with llvm.parse_assembly(text, context) as module:
            module.triple = target.triple
            module.data_layout = str(_machine(target).target_data)
            module.verify()
            yield module


def object_code(text: str, target: Target | None = None) -> bytes:
    """An object file of text IR, for this machine unless another is named."""
    target = target or host()
    with _parsed(text, target) as module:
        return bytes(_machine(target).emit_object(module))


def machine_text(text: str, target: Target | None = None) -> str:
    """The instructions of text IR, to be read."""
    target = target or host()
    with _parsed(text, target) as module:
        return str(_machine(target).emit_assembly(module))


def cached_code(text: str, target: Target | None = None) -> bytes:
    """An object file of text IR: from the cache on disk, else compiled and kept there."""
    aim = target or host()
    return object_cache().get(code_key(text, aim), lambda: object_code(text, aim))


def code_key(text: str, target: Target | None = None) -> bytes:
    """The name under which the object file of text IR is kept."""
    aim = target or host()
    options = repr(sorted(OPTIONS.items()))
    return key_of(text, aim.version, aim.triple, aim.cpu, aim.features, options)


def link(
    codes: Sequence[bytes], exports: Iterable[str], imports: Mapping[str, int] | None = None
) -> Library:
    """Object files made runnable together.

    `exports` are functions to find, `imports` the addresses of what none of them defines.
    """
    names = list(exports)
    with working:
        builder = binding().JITLibraryBuilder()
        for code in codes:
            builder.add_object_img(code)
        for name, address in (imports or {}).items():
            builder.import_symbol(name, address)
        builder.add_current_process()
        for name in names:
            builder.export_symbol(name)
        tracker = builder.link(_linker(), f"scull{next(_numbers)}")
    return Library(tracker, names, tuple(codes))


def build(
    modules: Iterable[Module],
    imports: Mapping[str, int] | None = None,
    target: Target | None = None,
    codes_of: Callable[[Sequence[str]], list[bytes]] | None = None,
) -> Library:
    """Modules as one library: each from the cache on disk or compiled, then linked.

    `codes_of` gives the object files of texts where others make them.

    A RuntimeError is what LLVM says of text it does not understand, or of names nobody defines.

    >>> text = "define i32 @seven() { ret i32 7 }"
    >>> sorted(build([Module(text, ("seven",))]).addresses)
    ['seven']
    """
    modules = list(modules)
    texts = [module.text for module in modules]
    codes = codes_of(texts) if codes_of else [cached_code(text, target) for text in texts]
    return link(codes, [name for module in modules for name in module.exports], imports)
