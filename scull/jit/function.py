"""StaticFunction: a function whose calls run Programs, one for each description of arguments."""

import functools
import inspect
import itertools
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from scull.core.interpreter import current, interpreting, modes
from scull.core.tensor import Tensor
from scull.core.timeline import active
from scull.errors import ArgumentError, RunError
from scull.flags import PADDLE
from scull.flags import changes as turned
from scull.ir.program import Program
from scull.jit.concrete import ConcreteProgram, record
from scull.jit.convert import converted, text
from scull.jit.convert.function import known as conversions
from scull.jit.convert.run.raising import Unwinding
from scull.jit.convert.run.reads import Key
from scull.jit.error import told, why
from scull.jit.lazy import Lazy, Pieces
from scull.jit.left import Set
from scull.jit.piece import OutsideGradientError, Piece, Stale
from scull.jit.program_cache import ProgramCache, Statistics
from scull.jit.signature import CONTAINERS, Signature, key_of, leaves, mapped
from scull.nn.layer.attribute import Attributes, changes

MOST_HELD = 256  # layers in one list, say, that are seen to train or test
MOST = 1024  # calls that are known without looking at the signature


class Entry(NamedTuple):
    """What serves the calls of one key."""

    concrete: ConcreteProgram
    piece: Piece
    order: tuple[int, ...] | None  # of the tensors of a call, when not that of the parameters
    single: bool  # whether it returns one tensor
    silent: bool  # whether none of its operands may want a gradient


class Known(NamedTuple):
    """The calls that are served without a look at the signature, for a while.

    A call writes into the one that it found: what is new when layers or settings change, or when
    a Program fits no more, is another.
    """

    layers: int  # how often layers had changed
    settings: int  # and settings
    quick: dict[
        Any, Callable[[list[Tensor]], Tensor]
    ]  # by the key of a call, what gives its only result, of no gradient
    entries: dict[Any, "Entry | Broken"]  # and what serves the others


NOTHING = Known(-1, -1, {}, {})  # no call looks into it


class Place:
    """Stands for a tensor of a call while its arguments find their parameters."""

    def __init__(self, number: int) -> None:
        self.number = number


class Broken(NamedTuple):
    """Calls of one key that no one Program serves: pieces of graph, and why."""

    pieces: Pieces
    reason: str
    form: Any  # of the arguments, whatever the sizes of their tensors


class StaticFunction:
    """A function, or a method, that is recorded into Programs and run by the executor.

    Args:
        function (callable): what is called; a method brings its object.
        input_spec (list[InputSpec], optional): what is known of the first arguments.
        full_graph (bool): whether all of it has to be one Program.
        property (bool): whether its value, or what it returns, is saved with a model as a property.
        build_strategy, backend: kept for Paddle's signature.

    Examples:
        >>> import scull as paddle
        >>> @paddle.jit.to_static
        ... def relu(x):
        ...     if x.sum() > 0:
        ...         return x
        ...     return x * 0.0
        >>> relu(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
        >>> len(relu.program_cache)
        1
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Any = None,
        *,
        full_graph: bool = True,
        property: bool = False,
        build_strategy: Any = None,
        backend: Any = None,
    ) -> None:
        self._instance = getattr(function, "__self__", None)
        self._dygraph_function = getattr(function, "__func__", function)
        self._input_spec, self._property, self.full_graph = input_spec, property, full_graph
        self.options = {"build_strategy": build_strategy, "backend": backend}
        self._training = True
        self.known = NOTHING
        self.read: set[Key] = set()  # attributes that recordings read before they wrote them
        self.own: dict[Key, Set] = {}  # attributes that they wrote
        self.broken: dict[Any, Broken] = {}  # by the form of the arguments, the last one last
        self.program_cache = ProgramCache()
        self.calls = 0
        self.lock = threading.RLock()
        functools.update_wrapper(self, self._dygraph_function)

    def __get__(self, instance: Any, owner: Any = None) -> "StaticFunction":
        if instance is None:
            return self
        own = getattr(instance, "__dict__", None)
        if own is None:
            return self.copied_for(instance)
        kept = own.setdefault("_static_functions", {})
        found = kept.get(self)
        if found is None or found._instance is not instance:
            found = kept[self] = self.copied_for(instance)
        return found

    def copied_for(self, instance: Any) -> "StaticFunction":
        """The same function as a method of another object."""
        method = self._dygraph_function
        if instance is not None:
            method = method.__get__(instance)
        options: dict[str, Any] = {"full_graph": self.full_graph, "property": self._property}
        return type(self)(method, self._input_spec, **options, **self.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> "StaticFunction":
        return self.copied_for(memo.get(id(self._instance), self._instance))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode: Any = current() if modes else None
        if mode and not mode.eager:
            return self.inlined(args, kwargs)
        self.calls += 1
        layers, settings, quick, entries = self.known
        if layers != changes[0] or settings != turned[0]:
            if not PADDLE["FLAGS_enable_to_static"]:
                return self.dygraph_function(*args, **kwargs)
            _, _, quick, entries = self.known = Known(changes[0], turned[0], {}, {})
        inputs: Any = args
        key: Any = (mode.setting, mode.record) if mode else ()
        for v in args:
            if type(v) is not Tensor:
                key, inputs = key_of_all(mode, args, kwargs)
                break
            array = v.array  # as `key_of` says, without the call
            key += array.shape, array.dtype.num, v.node is None
        else:
            if kwargs:
                key, inputs = key_of_all(mode, args, kwargs)
        try:
            tensor = quick.get(key)
            if tensor and not active:
                return tensor(inputs)
            entry = entries.get(key) or self.entry(key, args, kwargs, entries)
            if type(entry) is Broken:
                return self.in_pieces(entry, args, kwargs)
            if entry.order is not None:
                inputs = [inputs[i] for i in entry.order]
            found = entry.piece(inputs)
            if not entry.single:
                concrete = entry.concrete
                given = self.function_spec.named(args, kwargs) if concrete.left else None
                return concrete.returned(found, given)
            if entry.silent and entry.order is None and entry.piece.quick:
                quick[key] = entry.piece.quick  # from the next time on
            return found[0]
        except Stale:
            self.program_cache.forget(entry.concrete)
            self.known = NOTHING
            self.calls -= 1  # it is made again
        except Exception as error:
            if self.full_graph or type(error) is not OutsideGradientError:
                raise told(error, self.program_cache.raises()) from error.__cause__
            entries[key] = self.broken_by(error, args, kwargs)
            self.calls -= 1
        return self(*args, **kwargs)

    def in_pieces(self, broken: Broken, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run it as Python, whose operators wait until a value is asked for.

        Once that went well, calls of its form run so; the first time a warning says why.
        """
        broken.pieces.notes.clear()
        mode = Lazy(broken.pieces, record=current().record)
        with interpreting(current().over(mode)):
            found = self.dygraph_function(*args, **kwargs)
            mode.waiting.settle("its end")
        known = bool(self.broken)
        self.broken.pop(broken.form, None)
        self.broken[broken.form] = broken
        if not known:
            warnings.warn(
                f"{broken.reason}. It runs in pieces of graph with Python between them; `report()` "
                "of the function tells more, and with full_graph=True this is an error",
                stacklevel=3,
            )
        return found

    def broken_by(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Broken:
        """What serves calls of this form in pieces, since one Program cannot."""
        form = form_of(*self.function_spec.named(args, kwargs))
        reason = f"`{self.__name__}` is no one Program: {why(error)}"
        return self.broken.get(form) or Broken(Pieces(), reason, form)

    def report(self) -> str:
        """Why it is no one Program, and the pieces of its last call: their ends and sizes."""
        if not self.broken:
            return "1 piece of graph: the whole function"
        last = next(reversed(self.broken.values()))
        return f"{last.reason}\n{last.pieces.report()}"

    def statistics(self) -> Statistics:
        """How often it was called, and what became of its Programs."""
        c = self.program_cache
        return Statistics(self.calls, c.recorded, len(c), c.stale, c.dropped, len(conversions))

    def inlined(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call within a function that is being recorded, or in static mode."""
        function = converted(self._dygraph_function)
        first = () if self._instance is None else (self._instance,)
        try:
            return function(*first, *args, **kwargs)
        except Unwinding as unwinding:
            if current().captures:
                raise
            raise unwinding.error from None

    # ---- Programs ----

    @functools.cached_property
    def function_spec(self) -> Signature:
        """The parameters, and what `input_spec` says of them."""
        return Signature(self._dygraph_function, self._input_spec, self._instance is not None)

    def entry(
        self,
        key: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        entries: dict[Any, Entry | Broken],
    ) -> Entry | Broken:
        """What serves this call, made when there is nothing yet; among `entries` from now on."""
        given, named = self.function_spec.named(args, kwargs)
        form = form_of(given, named)
        if form in self.broken:
            return self.broken[form]
        described = self.function_spec.described(given, named)
        try:
            concrete, piece = self.program_for(*described)
        except Exception as error:
            if self.full_graph:
                raise
            return self.broken_by(error, args, kwargs)
        order = self.order(args, kwargs)
        if len(entries) >= MOST:
            self.known = NOTHING
        straight = order == tuple(range(len(order)))
        given = [t for t in leaves([args, kwargs]) if isinstance(t, Tensor)]
        silent = not (piece.tensors or any(t.node is not None for t in given))
        found = entries[key] = Entry(
            concrete,
            piece,
            None if straight else order,
            concrete.single,
            silent or not current().record,
        )
        return found

    def order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
        """The places of a call's tensors, in the order of the parameters."""
        count = itertools.count()

        def numbered(value: Any) -> Any:
            return Place(next(count)) if is_tensor(value) else value

        places = mapped(numbered, [list(args), kwargs])
        found = leaves(list(self.function_spec.named(tuple(places[0]), places[1])))
        return tuple([v.number for v in found if type(v) is Place])

    def program_for(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[ConcreteProgram, Piece]:
        """The Program for arguments with descriptions in the place of tensors."""
        key = (key_of(args, []), key_of(kwargs, []))
        with self.lock:
            found = self.program_cache.found((*key, self.state([args, kwargs])))
            if found is None:
                concrete = self.recorded(args, kwargs)
                key = (*key, self.state([args, kwargs]))  # by what is known of it now
                piece = concrete.piece(self.__name__, self._training)
                found = self.program_cache.put(key, concrete, piece)
                self.program_cache.warn_of_many(self.__name__, self.function_spec)
            return found

    def recorded(self, args: list[Any], kwargs: dict[str, Any]) -> ConcreteProgram:
        """Record the function on descriptions of its arguments."""
        names = [p.name for p in self.function_spec.parameters]
        first = () if self._instance is None else (self._instance,)
        function = converted(self._dygraph_function)
        found = record(
            self._dygraph_function, function, args, kwargs, names, first, self.full_graph, self.read
        )
        self.read |= found.read
        self.own |= {s.key: s for s in found.left if isinstance(s, Set)}
        return found

    def state(self, arguments: Any) -> Any:
        """What a Program depends on besides the arguments: who trains, casts, which tensors."""
        roots = {id(v): v for v in self.layers(arguments)}
        parts = [p for r in roots.values() for p in r.sublayers(include_self=True)]
        tensors = [t for r in roots.values() for t in r.parameters()]
        own = self.own.keys() - self.read  # what it writes whatever stands there
        tensors += [t for p in parts for n, t in p._buffers.items() if (id(p), n) not in own]
        behaviour = tuple([p.training for p in parts])
        return (self._training, current().setting, behaviour, tuple(map(id, tensors)))

    def layers(self, arguments: Any) -> list[Any]:
        """The layers that the function finds by itself, or is given."""
        if isinstance(self._instance, Attributes):
            found = [self._instance]
        else:
            beside = inspect.getclosurevars(self._dygraph_function)
            own = getattr(self._instance, "__dict__", {})
            held = [*beside.nonlocals.values(), *beside.globals.values(), *own.values()]
            found = [v for h in held if not is_large(h) for v in leaves(h)]
        return [v for v in [*found, *leaves(arguments)] if isinstance(v, Attributes)]

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, Piece]:
        """The Program that a call with these arguments, or descriptions of them, would run."""
        if not args and not kwargs and self.function_spec.specs is not None:
            return self.program_for(*self.function_spec.expected())
        given, named = self.function_spec.named(args, kwargs)
        return self.program_for(*self.function_spec.described(given, named))

    def concrete_program_specify_input_spec(self, input_spec: Any = None) -> ConcreteProgram:
        """The Program for `input_spec`; without one, that of what was said or called before."""
        if input_spec is not None:
            other = self.copied_for(self._instance)
            other._input_spec = input_spec
            other._training = self._training
            return other.get_concrete_program()[0]
        if self._input_spec is not None:
            return self.get_concrete_program()[0]
        found = self.program_cache.last()
        if found is None:
            if self.broken:
                raise RunError(next(reversed(self.broken.values())).reason)
            signature = self.function_spec
            if not any(p.default is p.empty for p in signature.parameters):
                return self.program_for(*signature.expected())[0]
            raise ArgumentError(
                f"no Program of `{self.__name__}` is known: call it once, or say by input_spec "
                "what its arguments are"
            )
        concrete: ConcreteProgram = found[1][0]
        return concrete

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The Program recorded last, or the one for `input_spec`."""
        return self.concrete_program_specify_input_spec()

    @property
    def main_program(self) -> Program:
        """The Program recorded last."""
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[Any]:
        """The variables of its tensors among the arguments."""
        return self.concrete_program.entries

    @property
    def outputs(self) -> list[Any]:
        """The variables it returns."""
        return self.concrete_program.exits

    @property
    def code(self) -> str:
        """The source after conversion."""
        return text(self._dygraph_function)

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        if self._instance is None:
            return self._dygraph_function
        return self._dygraph_function.__get__(self._instance)

    @property
    def is_property(self) -> bool:
        return self._property

    def rollback(self) -> Callable[..., Any]:
        """Put the function as it was written back into its object; return it."""
        plain = self.dygraph_function
        if hasattr(self._instance, "__dict__"):
            setattr(self._instance, self.__name__, plain)
        return plain

    def train(self) -> None:
        """Let operators train that tell testing from training; a layer says so itself."""
        self.behave(True)

    def eval(self) -> None:
        """Let operators test that tell testing from training; a layer says so itself."""
        self.behave(False)

    def behave(self, training: bool) -> None:
        """Set whether it trains."""
        if isinstance(self._instance, Attributes):
            raise RunError(
                f"`{self.__name__}` is a method of a layer: call `train()` or `eval()` of that"
            )
        self._training = training
        self.known = NOTHING

    def get_traced_count(self) -> int:
        """How often it was recorded."""
        return len(self.program_cache)


def form_of(args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Arguments as a key, whatever the sizes of their tensors."""
    return key_of(mapped(lambda v: Tensor if is_tensor(v) else v, [args, kwargs]), [])


def key_of_all(mode: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The key of a call that brings more than tensors by position, and the tensors in it."""
    inputs: list[Tensor] = []
    parts = [mode and (mode.setting, mode.record), *args, *kwargs.items()]
    return tuple([key_of(v, inputs) for v in parts]), inputs


def is_large(value: Any) -> bool:
    """Whether a container holds so much that nobody looks for layers in it."""
    return isinstance(value, CONTAINERS) and len(value) > MOST_HELD


def is_tensor(value: Any) -> bool:
    """Whether an argument is a tensor of the Program."""
    return isinstance(value, Tensor) or type(value).__name__ == "ndarray"
