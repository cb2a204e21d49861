"""What code for several processes asks for and wraps around a Layer; this process is alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.distributed.alone import init_parallel_env
from scull.errors import ArgumentTypeError
from scull.nn.layer.layers import Layer


class ParallelEnv:
    """What a process knows of the others: it is alone."""

    rank = local_rank = device_id = 0
    world_size = nranks = nrings = 1
    device_type = "cpu"

    @property
    def dev_id(self) -> int:
        return self.device_id

    @property
    def current_endpoint(self) -> str:
        """The address of this process, as its launcher set it."""
        return os.environ.get("PADDLE_CURRENT_ENDPOINT", "")

    @property
    def trainer_endpoints(self) -> list[str]:
        """The addresses of all processes, as their launcher set them."""
        return os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")


class ReduceOp:
    """What becomes of the values of several processes."""

    SUM, MAX, MIN, PROD, AVG = range(5)


class ParallelMode:
    """What processes share."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(
        5
    )


class DataParallel(Layer):
    """A Layer whose gradients all processes share: with one process, `layers` as it is.

    Args:
        layers (Layer): what is trained; its state and its results are those of this Layer.
        strategy, comm_buffer_size, last_comm_buffer_size, group (optional): of no effect.
        find_unused_parameters (bool): of no effect.

    Examples:
        >>> import scull as paddle
        >>> net = paddle.DataParallel(paddle.nn.Linear(2, 3))
        >>> net(paddle.ones([1, 2])).shape
        [1, 3]
        >>> list(net.state_dict())
        ['weight', 'bias']
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        if not isinstance(layers, Layer):
            raise ArgumentTypeError(f"`layers` is a Layer, not {type(layers).__name__}")
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters

    def forward(self, *inputs: Any, **options: Any) -> Any:
        return self._layers(*inputs, **options)

    def state_dict(self, *arguments: Any, **options: Any) -> Any:
        """The state of the Layer within, under the names it has there."""
        return self._layers.state_dict(*arguments, **options)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Let the Layer within take a state."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are not shared, as they never are."""
        yield

    def scale_loss(self, loss: Any) -> Any:
        """The loss divided among processes: `loss` itself."""
        return loss

    def apply_collective_grads(self) -> None:
        """Share gradients: nothing to do."""


__all__ = ["DataParallel", "ParallelEnv", "ParallelMode", "ReduceOp", "init_parallel_env"]
