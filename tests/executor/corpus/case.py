"""One Program of the corpus while features are added to it, and what its run begins with."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import scull as paddle
from scull.executor.plan import Plan, make_plan

SHAPE = [3, 3]
SEED = 7  # of the generator, before the startup Program and before every run


@dataclass
class Case:
    """A Program, its feeds and fetches, and the values that the next feature may use."""

    name: str
    features: tuple[str, ...]
    optimizer: str = ""  # of a training step
    main: Any = field(default_factory=paddle.static.Program)
    startup: Any = field(default_factory=paddle.static.Program)
    values: list[Any] = field(default_factory=list)  # all of SHAPE and float32
    trained: list[Any] = field(default_factory=list)  # from which gradients reach parameters
    feeds: dict[str, Any] = field(default_factory=dict)
    fetches: list[Any] = field(default_factory=list)  # besides what nobody reads
    begins: dict[str, Any] = field(default_factory=dict)  # values of the scope, once it is built

    def __post_init__(self) -> None:
        self.chance = random.Random(self.name)
        self.numbers = np.random.default_rng(len(self.name))
        self.made = 0

    @property
    def unfed(self) -> bool:
        """Whether nothing is fed."""
        return "no input" in self.features

    @property
    def block(self) -> Any:
        """Where operators are added now."""
        return paddle.static.default_main_program().current_block()

    def pick(self) -> Any:
        """A value made before, more often one of the last."""
        return self.chance.choice(self.values[-4:] if self.chance.random() < 0.7 else self.values)

    def two(self) -> tuple[Any, Any]:
        """Two different values made before."""
        first = self.pick()
        return first, self.chance.choice([v for v in self.values if v is not first])

    def temporary(self) -> Any:
        """A value that is neither fed nor in the scope; made when there is none."""
        found = [v for v in self.values if not v.is_data and not v.persistable]
        return self.chance.choice(found) if found else self.keep(paddle.tanh(self.pick()))

    def keep(self, *values: Any) -> Any:
        """Let later features use these; the last of them."""
        self.values.extend(v for v in values if v not in set(self.values))
        return values[-1]

    def number(self) -> int:
        """A number nobody has had."""
        self.made += 1
        return self.made

    def array(self, *shape: int) -> Any:
        """An array of random numbers."""
        return self.numbers.standard_normal(shape).astype("float32")

    def fed(self, value: Any, shape: Any = None) -> Any:
        """A new input that is fed `value`."""
        name = f"fed{self.number()}"
        self.feeds[name] = value
        return paddle.static.data(name, value.shape if shape is None else shape, value.dtype.name)

    def fed_or_made(self, value: Any) -> Any:
        """An input that is fed `value`; a constant where nothing is fed."""
        return paddle.assign(value) if self.unfed else self.fed(value)

    def parameter(self, *shape: int) -> Any:
        """A new parameter."""
        start = paddle.nn.initializer.Assign(self.array(*shape))
        return paddle.create_parameter(list(shape), "float32", default_initializer=start)

    def variable(self, shape: Any = SHAPE, dtype: str = "float32") -> Any:
        """A new variable of the block that nobody has written yet."""
        return self.block.create_var(f"made{self.number()}", shape=shape, dtype=dtype)

    def persistable(self, value: Any) -> Any:
        """A variable of the scope that begins with `value`."""
        name, dtype = f"kept{self.number()}", value.dtype.name
        self.begins[name] = value
        block = self.main.global_block()
        return block.create_var(name, shape=value.shape, dtype=dtype, persistable=True)

    def update(self, variable: Any, by: Any) -> None:
        """Write over `variable`."""
        rate = paddle.full([1], 0.125)
        inputs = {"Param": [variable], "Grad": [by], "LearningRate": [rate]}
        self.block.append_op("sgd", inputs, {"ParamOut": [variable]}, {})

    def ends(self) -> list[Any]:
        """What is fetched: what was asked for, and what nobody reads after its last change."""
        last: dict[Any, bool] = {}  # by variable, whether it was written last
        for operator in self.main.global_block().ops:
            last.update(dict.fromkeys(operator.operands(), False))
            last.update(dict.fromkeys(operator.results(), True))
        wanted = [v for v in last if v in set(self.values) and last[v] and not v.persistable]
        return [] if "no fetch" in self.features else [*self.fetches, *wanted]

    def finish(self) -> None:
        """Run the startup Program; note what the scope holds then."""
        scope = paddle.static.Scope()
        paddle.seed(SEED)
        paddle.static.Executor().run(self.startup, scope=scope)
        found = {name: scope.find_var(name).value for name in scope.local_var_names()}
        self.begins |= {name: value for name, value in found.items() if value is not None}

    def plan(self, seed: int = -1) -> Plan:
        """A plan of it, in the order of the Program or one picked by `seed`."""
        names = tuple(v.name for v in self.ends())
        return make_plan(self.main.global_block(), tuple(self.feeds), names, seed=seed)
