"""Random numbers: seeds and the state of generators."""

from typing import Any

from scull.ir.program import main_program, startup_program
from scull.tensor.random import get_rng_state, seed, set_rng_state


def _manual_program_seed(seed: int) -> None:
    main_program().random_seed = startup_program().random_seed = seed


def get_cuda_rng_state() -> list[Any]:
    """The states of the generators of GPUs, of which there are none."""
    return []


def set_cuda_rng_state(state_list: list[Any]) -> None:
    """Let the generators of GPUs go on from saved states: there are none.

    Args:
        state_list (list): what `get_cuda_rng_state` returned.
    """


__all__ = ["get_cuda_rng_state", "get_rng_state", "seed", "set_cuda_rng_state", "set_rng_state"]
