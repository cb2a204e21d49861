"""The operators of scaled losses in a Program."""

from typing import Any

from scull.errors import ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.static.layer_helper import LayerHelper

FLOATS = ("float16", "bfloat16", "float32", "float64")


def checked(x: Any) -> list[Variable]:
    """Gradients in a list, refused where they are something else."""
    if not isinstance(x, list | tuple):
        raise ArgumentTypeError(f"x is a list of gradients, not {type(x).__name__}")
    for v in x:
        if v.dtype.name not in FLOATS:
            raise DtypeError(f"`{v.name}` is {v.dtype.name}, and gradients have fractions")
    return list(x)


def check_finite_and_unscale(
    x: Any, scale: Any, name: str | None = None, float_status: Any = None
) -> tuple[Any, Variable]:
    """Divide gradients by a factor in place, unless one is infinite or no number.

    Args:
        x (list[Variable]): the gradients.
        scale (Variable): the factor, one element.
        name (str, optional): of the result.
        float_status: kept for Paddle's signature.

    Returns:
        tuple: `x`, and a Variable of one bool: whether something was not finite.
    """
    helper = LayerHelper("check_finite_and_unscale", name=name)
    found = helper.create_variable_for_type_inference(dtype="bool")
    helper.append_op(
        type="check_finite_and_unscale",
        inputs={"X": checked(x), "Scale": scale},
        outputs={"Out": list(x), "FoundInfinite": found},
    )
    return x, found


def update_loss_scaling(
    x: Any,
    found_inf: Any,
    prev_loss_scaling: Any,
    num_good_steps: Any,
    num_bad_steps: Any,
    incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int,
    incr_ratio: float,
    decr_ratio: float,
    stop_update: Any = False,
    name: str | None = None,
) -> Any:
    """Let the factor of a loss follow what was found; zeros in place of gradients of a bad step.

    Args:
        x (list[Variable]): the gradients.
        found_inf (Variable): whether one was not finite.
        prev_loss_scaling, num_good_steps, num_bad_steps (Variable): what changes.
        incr_every_n_steps (int): how many good steps in a row it grows after.
        decr_every_n_nan_or_inf (int): how many bad ones it shrinks after.
        incr_ratio, decr_ratio (float): what it grows and shrinks by.
        stop_update (bool | Variable): whether the factor stays.
        name (str, optional): kept for Paddle's signature.

    Returns:
        list[Variable]: `x`.
    """
    inputs = {
        "X": checked(x),
        "FoundInfinite": found_inf,
        "PrevLossScaling": prev_loss_scaling,
        "InGoodSteps": num_good_steps,
        "InBadSteps": num_bad_steps,
    }
    attrs: dict[str, Any] = {
        "incr_every_n_steps": incr_every_n_steps,
        "decr_every_n_nan_or_inf": decr_every_n_nan_or_inf,
        "incr_ratio": incr_ratio,
        "decr_ratio": decr_ratio,
    }
    told = isinstance(stop_update, Variable)
    (inputs if told else attrs)["StopUpdate" if told else "stop_update"] = stop_update
    LayerHelper("update_loss_scaling", name=name).append_op(
        type="update_loss_scaling",
        inputs=inputs,
        outputs={
            "Out": list(x),
            "LossScaling": prev_loss_scaling,
            "OutGoodSteps": num_good_steps,
            "OutBadSteps": num_bad_steps,
        },
        attrs=attrs,
    )
    return x
