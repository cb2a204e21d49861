"""Random numbers: seeds and the state of generators."""

from scull.ir.program import main_program, startup_program
from scull.tensor.random import get_rng_state, seed, set_rng_state


def _manual_program_seed(seed: int) -> None:
    main_program().random_seed = startup_program().random_seed = seed


__all__ = ["get_rng_state", "seed", "set_rng_state"]
