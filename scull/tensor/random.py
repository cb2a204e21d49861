"""Random numbers and the generator they come from."""

from typing import Any

from scull.core import session
from scull.core.door import shown_by
from scull.core.dtype import dtype_of
from scull.core.random import Generator, GeneratorState
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.ops import like, random
from scull.ops.promotion import cast_to
from scull.tensor.draw import gaussian_  # noqa: F401  old code looks for it here
from scull.tensor.size import (
    dtype_or_default,
    integer,
    integers,
    is_static,
    needs_tensor,
    number,
    several,
    shape_inputs,
    whole,
)


def seed(seed: Any) -> Generator:
    """Start the random numbers anew.

    Args:
        seed (int): the same seed gives the same numbers.

    Returns:
        Generator: where they come from.

    Examples:
        >>> import scull as paddle
        >>> _ = paddle.seed(7)
        >>> first = paddle.rand([2]).tolist()
        >>> _ = paddle.seed(7)
        >>> paddle.rand([2]).tolist() == first
        True
    """
    return session.generator().manual_seed(whole(seed, "seed"))


def get_rng_state(device: str | None = None) -> list[GeneratorState]:
    """The state of the generator, for `set_rng_state`.

    Args:
        device (str, optional): the CPU.

    Examples:
        >>> import scull as paddle
        >>> state = paddle.get_rng_state()
        >>> first = paddle.rand([2]).tolist()
        >>> paddle.set_rng_state(state)
        >>> paddle.rand([2]).tolist() == first
        True
    """
    return [session.generator().get_state()]


def set_rng_state(state_list: Any, device: str | None = None) -> None:
    """Let the generator go on from a saved state.

    Args:
        state_list (list): what `get_rng_state` returned.
        device (str, optional): the CPU.

    Examples:
        >>> import scull as paddle
        >>> paddle.set_rng_state(paddle.get_rng_state())
    """
    states = several(state_list, "state_list")
    if len(states) != 1:
        raise ArgumentError(f"there is one generator, and {len(states)} states are given")
    numbers = integers(states[0], "state_list")
    if len(numbers) != 2:
        raise ArgumentError(f"a state is the seed and the number of a draw, not {list(numbers)}")
    session.generator().set_state(numbers)


def uniform(
    shape: Any,
    dtype: Any = None,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Numbers from `min` to before `max`, all equally likely.

    Args:
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        min (float): the least.
        max (float): the bound they stay below.
        seed (int): of these numbers alone; 0 takes the generator's next.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.uniform([2, 3]).shape
        [2, 3]
    """
    tensor, tensors, sizes = shape_inputs(shape)
    attrs = {"shape": sizes, "dtype": dtype_or_default(dtype), "seed": seed}
    bounds = {"min": min, "max": max}
    bounds = {n: v if isinstance(v, Variable) else number(v, n) for n, v in bounds.items()}
    return random.uniform(tensor, tensors, **attrs, **bounds, name=name)


def uniform_random_batch_size_like(
    input: Any,
    shape: Any,
    dtype: Any = "float32",
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
) -> Any:
    """Numbers from `min` to before `max`, as many along one axis as `input` has along another.

    Args:
        input (Tensor): float32, float64 or bfloat16, of which one size is taken.
        shape (list | tuple): the sizes; what stands at `output_dim_idx` is of no effect.
        dtype (str | DType): float32, float64 or bfloat16.
        input_dim_idx (int): the axis of `input`.
        output_dim_idx (int): the axis of the result.
        min (float): the least.
        max (float): the bound they stay below.
        seed (int): of these numbers alone; 0 takes the generator's next.

    Raises:
        ArgumentTypeError: `input` is no tensor, or `shape` no list.
        DtypeError: `input` or the result has other elements.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([5, 2])
        >>> paddle.tensor.random.uniform_random_batch_size_like(x, [-1, 3]).shape
        [5, 3]
    """
    needs_tensor(input, "uniform_random_batch_size_like", "input")
    if not isinstance(shape, list | tuple):
        raise ArgumentTypeError(f"`shape` is a list or tuple, not {type(shape).__name__}")
    for found in (input.dtype, dtype_of(dtype)):
        if found.name not in ("float32", "float64", "bfloat16"):
            raise DtypeError(f"numbers are float32, float64 or bfloat16, not {found.name}")
    places = {"input_dim_idx": input_dim_idx, "output_dim_idx": output_dim_idx}
    bounds = {"min": number(min, "min"), "max": number(max, "max")}
    return random.uniform_random_batch_size_like(
        input, shape=integers(shape, "shape"), dtype=dtype_of(dtype), seed=seed, **places, **bounds
    )


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Numbers from 0 to before 1, all equally likely.

    Args:
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.rand([2, 3]).shape
        [2, 3]
    """
    return uniform(shape, dtype, 0.0, 1.0, 0, name)


def gaussian(
    shape: Any,
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Normal numbers.

    Args:
        shape (list | tuple | Tensor): the sizes.
        mean (float): what they lie around.
        std (float): their deviation.
        seed (int): of these numbers alone; 0 takes the generator's next.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.random.gaussian([2, 3]).shape
        [2, 3]
    """
    tensor, tensors, sizes = shape_inputs(shape)
    attrs = {"shape": sizes, "dtype": dtype_or_default(dtype), "seed": seed}
    return random.gaussian(
        tensor, tensors, **attrs, mean=number(mean, "mean"), std=number(std, "std"), name=name
    )


def standard_normal(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal numbers around 0 with the deviation 1.

    Args:
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.standard_normal([2, 3]).shape
        [2, 3]
    """
    return gaussian(shape, dtype=dtype, name=name)


def randn(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal numbers around 0 with the deviation 1.

    Args:
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.randn([2, 3]).shape
        [2, 3]
    """
    return gaussian(shape, dtype=dtype, name=name)


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None) -> Any:
    """Normal numbers, of a shape or of that of `mean` or `std`.

    Args:
        mean (float | Tensor): what they lie around.
        std (float | Tensor): their deviation.
        shape (list | tuple | Tensor, optional): the sizes; of no effect beside a tensor.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.normal(1.0, 2.0, [2, 3]).shape
        [2, 3]
    """
    tensor = next((v for v in (mean, std) if isinstance(v, Tensor | Variable)), None)
    if tensor is None:
        return gaussian([1] if shape is None else shape, mean, std, name=name)
    unit = standard_normal(tensor.shape, tensor.dtype if tensor.dtype.is_float else None)
    return unit * std + mean


def randint(
    low: Any = 0, high: Any = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Any:
    """Integers from `low` to before `high`, all equally likely.

    Args:
        low (int): the least; with no `high`, the bound, and 0 is the least.
        high (int, optional): the bound they stay below.
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): int64 when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.randint(3, 4, [2]).tolist()
        [3, 3]
    """
    if high is None:
        low, high = 0, low
        if high <= 0:
            raise ArgumentError(
                f"If high is None, low must be greater than 0, but received low = {high}."
            )
    tensor, tensors, sizes = shape_inputs(shape)
    kind = dtype_of("int64" if dtype is None else dtype)
    if kind.name not in ("int32", "int64"):
        raise ArgumentTypeError(f"random integers are int32 or int64, not {kind.name}")
    attrs = {"low": low, "high": high, "shape": sizes, "dtype": kind}
    return random.randint(tensor, tensors, **attrs, name=name)


def randint_like(
    x: Any, low: Any = 0, high: Any = None, dtype: Any = None, name: str | None = None
) -> Any:
    """Integers from `low` to before `high` in the shape of `x`.

    Args:
        x (Tensor): whose shape is taken.
        low (int): the least; with no `high`, the bound, and 0 is the least.
        high (int, optional): the bound they stay below.
        dtype (str | DType, optional): that of `x` when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.randint_like(paddle.ones([2]), 3, 4).tolist()
        [3.0, 3.0]
    """
    needs_tensor(x, "randint_like")
    low, high = (0, low) if high is None else (low, high)
    sizes = like.shape(x) if isinstance(x, Variable) else x.shape
    found = randint(low, high, sizes, "int64", name)
    return cast_to(found, x.dtype if dtype is None else dtype)


def randperm(n: Any, dtype: Any = "int64", name: str | None = None) -> Any:
    """The integers from 0 to before `n` in any order.

    Args:
        n (int): how many.
        dtype (str | DType): the element type.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> sorted(paddle.randperm(3).tolist())
        [0, 1, 2]
    """
    if integer(n, "n") < (1 if is_static() else 0):
        raise ArgumentError("The input n should be greater than 0 in randperm op.")
    if dtype_of(dtype).name not in ("int32", "int64", "float32", "float64"):
        raise DtypeError(f"(NotFound) randperm gives int32, int64, float32 or float64, not {dtype}")
    return random.randperm(n=integer(n, "n"), dtype=dtype_of(dtype), name=name)


def bernoulli(x: Any, name: str | None = None) -> Any:
    """1 with the probability that `x` says, else 0.

    Args:
        x (Tensor): probabilities.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    needs_tensor(x, "bernoulli")
    return random.bernoulli(x, name=name)


def multinomial(
    x: Any, num_samples: int = 1, replacement: bool = False, name: str | None = None
) -> Any:
    """Places drawn with the weights in `x`, a row each.

    Args:
        x (Tensor): weights that need not sum up to 1.
        num_samples (int): how many places.
        replacement (bool): whether a place may be drawn again.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0])).tolist()
        [1]
    """
    needs_tensor(x, "multinomial")
    attrs = {"num_samples": integer(num_samples, "num_samples"), "replacement": replacement}
    return random.multinomial(x, **attrs, name=name)


__getattr__ = shown_by("scull.tensor")
