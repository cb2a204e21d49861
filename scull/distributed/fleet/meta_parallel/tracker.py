"""States of the generator of random numbers under names, between which code goes to and fro."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.errors import ArgumentError
from scull.tensor import random
from scull.tensor.random import get_rng_state, set_rng_state

MODEL_PARALLEL_RNG = "model_parallel_rng"


class RNGStatesTracker:
    """States of the generator under names.

    Examples:
        >>> import scull as paddle
        >>> tracker = paddle.distributed.fleet.meta_parallel.RNGStatesTracker()
        >>> tracker.add("dropout", 7)
        >>> with tracker.rng_state("dropout"):
        ...     x = paddle.rand([3])
        >>> bool((x == (paddle.seed(7), paddle.rand([3]))[1]).all())
        True
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all of them."""
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def add(self, name: str, seed: int) -> None:
        """Name the state that `seed` gives.

        Raises:
            ArgumentError: the name or the seed was used before.
        """
        if seed in self.seeds_ or name in self.states_:
            raise ArgumentError(f"seed {seed} or state {name!r} already exists")
        self.seeds_.add(seed)
        self.states_[name] = seeded(seed)

    def get_states_tracker(self) -> dict[str, Any]:
        """The states by name."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Take the states that `get_states_tracker` gave."""
        self.states_ = dict(states)

    @contextmanager
    def rng_state(self, name: str = MODEL_PARALLEL_RNG) -> Iterator[None]:
        """Within the block numbers are drawn from the state `name`, which goes on from there.

        Raises:
            ArgumentError: there is no such state.
        """
        if name not in self.states_:
            raise ArgumentError(f"state {name!r} does not exist")
        outside = get_rng_state()
        set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = get_rng_state()
            set_rng_state(outside)


def seeded(seed: int) -> Any:
    """The state that a seed gives."""
    now = get_rng_state()
    random.seed(seed)
    state = get_rng_state()
    set_rng_state(now)
    return state


TRACKER = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The states of this process."""
    return TRACKER


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Seed the generator, and the state that differs between processes.

    Args:
        seed (int, optional): drawn when None.
    """
    common = seed or int(random.randint(0, 655350))
    TRACKER.reset()
    random.seed(common)
    TRACKER.add(MODEL_PARALLEL_RNG, common * 1024)
