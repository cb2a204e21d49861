"""Predictors: saved models as pure functions, and the handles by which Paddle's code runs them."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from scull.core.meta import Kind
from scull.core.tensor import Tensor as EagerTensor
from scull.deferred import load
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FeedError,
    FetchError,
    RangeError,
    RunError,
)
from scull.files.model import Model
from scull.inference.config import Config
from scull.inference.function import Function
from scull.inference.handle import Tensor
from scull.inference.opening import opened
from scull.runtime.scope import ScopeTensor

if TYPE_CHECKING:
    from scull.inference.report import MemoryReport


class Predictor:
    """A saved model that can be run.

    Args:
        config (Config): its files.

    Called with arrays it is a pure function: it reads them where they are, keeps none of them and
    gives new ones. Any number of threads may call it at the same time; there is one set of values.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import scull as paddle
        >>> from scull.inference import Config, create_predictor
        >>> net = paddle.nn.Linear(3, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
        ...     paddle.jit.save(net, f"{folder}/net", input_spec=spec)
        ...     predictor = create_predictor(Config(f"{folder}/net"))
        >>> predictor(np.ones((4, 3), "float32")).shape
        (4, 2)
    """

    def __init__(self, config: Config | Function) -> None:
        function = config if isinstance(config, Function) else function_of(config)
        self.function: Function | None = function
        block = function.model.program.global_block()
        self.inputs = {n: Tensor(n, block.var(n)) for n in function.model.feeds}
        self.outputs = {v.name: Tensor(v.name, v) for v in function.model.fetches}
        self.count = len(self.inputs)
        self.short = self.count == 1 and len(function.model.fetches) == 1
        self.hooks: list[Callable[[str, str, EagerTensor], Any]] = []
        self.watching: Function | None = None  # gives the results of all operators, too

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """The output for inputs in order, by name, or in one dictionary; a list of several.

        Args:
            inputs (numpy.ndarray | Tensor | LoDTensor | list | number): of the declared element
                type, which a list or a number takes; sizes that are not declared may be any.

        Returns:
            numpy.ndarray | LoDTensor | list: new arrays, one with levels of detail in a LoDTensor.
        """
        function = self.function
        if self.short and not named and len(inputs) == 1 and function is not None:
            (x,) = inputs
            if type(x) is ndarray:
                return function.single(x)
        function = self.open()
        found = function(self.arranged(inputs, named))
        return found[0] if len(found) == 1 else found

    def open(self) -> Function:
        """What computes; RunError once the predictor is closed."""
        if self.function is None:
            raise RunError("the predictor is closed: create another one")
        return self.function

    def arranged(self, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        """The inputs in the order of the model."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping) and not named:
            inputs, named = (), inputs[0]
        names = list(self.inputs)
        given = dict(zip(names, inputs, strict=False))
        unknown = [n for n in named if n not in self.inputs]
        if unknown:
            raise FeedError(f"{listed(unknown)} is no input of the model; it takes {self.takes()}")
        twice = [n for n in named if n in given]
        if len(inputs) > len(names) or twice or len(given) + len(named) < len(names):
            missing = [n for n in names if n not in given and n not in named]
            came = f"{listed(missing)} did not come" if missing else f"{len(inputs)} came"
            law = f"{listed(twice)} came twice" if twice else came
            raise FeedError(f"the model takes {self.takes()}; {law}")
        return [given[n] if n in given else named[n] for n in names]

    def takes(self) -> str:
        """The inputs, each with what is declared of it."""
        kinds = [f"`{n}` ({h.variable.meta})" for n, h in self.inputs.items() if h.variable]
        many = "1 input" if len(kinds) == 1 else f"{len(kinds)} inputs"
        return ", ".join([many, *kinds])

    # ---- the names Paddle's users know ----

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        self.open()
        return list(self.inputs)

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        self.open()
        return list(self.outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """What gives the input `name` its value."""
        self.open()
        if name not in self.inputs:
            raise FeedError(f"`{name}` is no input of the model; it takes {self.takes()}")
        return self.inputs[name]

    def get_output_handle(self, name: str) -> Tensor:
        """Where the output `name` is read after `run`."""
        self.open()
        if name not in self.outputs:
            raise FetchError(f"`{name}` is no output of the model; it has {listed(self.outputs)}")
        return self.outputs[name]

    def run(self, inputs: Any = None) -> Any:
        """Compute the outputs.

        Args:
            inputs (list[Tensor | numpy.ndarray], optional): in the order of the inputs; what the
                handles hold when None.

        Returns:
            list | None: the outputs in order when `inputs` were given, as arrays if those were
            arrays, else as Tensors; otherwise the handles hold them.
        """
        self.open()
        if inputs is not None:
            values = self.filled(inputs)
            found = list(map(array_of, self.computed(values)))
            plain = values and all(type(v) is ndarray for v in inputs)
            return found if plain else [EagerTensor(v) for v in found]
        missing = [n for n, handle in self.inputs.items() if handle.cell.value is None]
        if missing:
            raise FeedError(
                f"{listed(missing)} has no value: call copy_from_cpu of its input handle first"
            )
        found = self.computed([handle.given() for handle in self.inputs.values()])
        for handle, value in zip(self.outputs.values(), found, strict=False):
            handle.receive(value)
        return None

    def filled(self, inputs: Any) -> list[Any]:
        """The arrays of a list of inputs."""
        if not isinstance(inputs, list | tuple) or len(inputs) != self.count:
            is_list = isinstance(inputs, list | tuple)
            came = len(inputs) if is_list else f"{type(inputs).__name__} {inputs!r}"[:80]
            raise ArgumentError(f"run takes a list of {self.takes()}; {came} came")
        for value in inputs:
            if not isinstance(value, EagerTensor | ndarray):
                raise ArgumentTypeError(f"run takes Tensors or arrays, not {type(value).__name__}")
        return [v.array if isinstance(v, EagerTensor) else v for v in inputs]

    def computed(self, values: list[Any]) -> list[Any]:
        """The outputs; hooks are told of what is between."""
        if self.watching is None:
            function = self.open()
            return [function.single(values[0])] if self.short else function(values)
        found, count = self.watching(values), len(self.open().model.fetches)
        for v, value in zip(self.watching.model.fetches[count:], found[count:], strict=True):
            for hook in self.hooks:
                hook(v.op.type, v.name, EagerTensor(array_of(value)))
        return found[:count]

    def register_output_hook(self, hook: Callable[[str, str, EagerTensor], Any]) -> None:
        """Call `hook` with the type, the name and the value of every result, after each `run`."""
        function = self.open()
        if self.watching is None:
            model = function.model
            operators = model.program.global_block().ops
            made = [o for o in operators if o.type not in ("feed", "fetch", "fetch_v2")]
            seen = [v for o in made for v in o.results() if v.name not in self.inputs]
            seen = [v for v in seen if v.kind is Kind.DENSE and not v.persistable]
            watched = Model(model.program, model.feeds, [*model.fetches, *dict.fromkeys(seen)])
            self.watching = function.giving(watched)
        self.hooks.append(hook)

    def clone(self) -> "Predictor":
        """Another predictor of the same values, with inputs and outputs of its own."""
        return Predictor(self.open())

    def clear_intermediate_tensor(self) -> None:
        """Drop what is between inputs and outputs: a run keeps none of it."""
        self.open()

    def try_shrink_memory(self) -> int:
        """Give memory back: a run keeps none.

        Returns:
            int: the bytes given back, 0.
        """
        self.open()
        return 0

    # ---- what scull adds ----

    def memory_report(self, shapes: Mapping[str, Any] | None = None) -> "MemoryReport":
        """What the values and a run take.

        Args:
            shapes (dict, optional): by the name of an input its shape, or an array that has it.

        Returns:
            MemoryReport: bytes; `print` shows it.
        """
        function = self.open()
        report: MemoryReport = load("scull.inference.report", "memory_report")(function, shapes)
        return report

    def close(self) -> None:
        """Let go of the values, which clones may still have; using this raises RunError."""
        self.function = self.watching = None
        self.hooks.clear()
        for handle in (*self.inputs.values(), *self.outputs.values()):
            handle.drop()

    def __enter__(self) -> "Predictor":
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class PredictorPool:
    """Several predictors of one model, for several threads.

    Args:
        config (Config): the model.
        size (int): how many.
    """

    def __init__(self, config: Config, size: int = 1) -> None:
        if not isinstance(size, int) or size < 1:
            raise ArgumentError(f"a pool has 1 predictor at least, not {size}")
        first = create_predictor(config)
        self.predictors = [first, *[first.clone() for _ in range(size - 1)]]

    def retrive(self, idx: int) -> Predictor:
        """The predictor of one place."""
        if not 0 <= idx < len(self.predictors):
            raise RangeError(f"the pool has {len(self.predictors)} predictors, none at {idx}")
        return self.predictors[idx]


def create_predictor(config: Config, *, max_memory: int = 0) -> Predictor:
    """The predictor of a saved model.

    Args:
        config (Config): its files; each makes one predictor.
        max_memory (int, optional): how many bytes the values and a run may take. What may take
            more is refused before anything is allocated, with ResourceError; 0: no limit.

    Returns:
        Predictor: with the values of the files.
    """
    return Predictor(function_of(config, max_memory))


def function_of(config: Any, max_memory: int = 0) -> Function:
    """The function of a model whose files a Config names, which is used up."""
    if not isinstance(config, Config):
        raise ArgumentTypeError(f"create_predictor takes a Config, not {type(config).__name__}")
    if type(max_memory) is not int or max_memory < 0:
        raise ArgumentError(f"max_memory is {max_memory!r}, not a number of bytes")
    if not config.is_valid():
        raise ArgumentError("Note: Each config can only be used for one predictor.")
    model, scope = opened(config, max_memory)
    config.valid = False
    threads = config.cpu_math_library_num_threads()
    return Function(model, scope, config.passes(), threads, max_memory)


def listed(names: Any) -> str:
    """Names in quotes, in line."""
    return ", ".join(f"`{n}`" for n in names) or "none"


def array_of(value: Any) -> Any:
    """The array of an output, without its levels of detail."""
    return value.cell.value if isinstance(value, ScopeTensor) else value
