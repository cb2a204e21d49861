"""What kinds of variables are saved."""

from typing import Any

from scull.static.io import is_parameter, is_persistable


def is_belong_to_optimizer(var: Any) -> bool:
    """Whether a variable outlives runs and is no parameter, as the states of an optimizer do."""
    return is_persistable(var) and not (is_parameter(var) or var.need_check_feed)


__all__ = ["is_belong_to_optimizer", "is_parameter", "is_persistable"]
