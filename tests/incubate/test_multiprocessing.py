"""Tensors go to other processes as memory that both have."""

import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import scull as paddle
import scull.incubate.multiprocessing as mp
from scull.core.tensor import Tensor
from scull.errors import TapeError
from tests.runtime.child import needs_fork

# Python 3.12 warns of every fork of a process with threads; those of scull may fork.
pytestmark = [
    needs_fork,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def doubled(queue, answers):
    """Double, in place, what comes, until None does."""
    while (tensor := queue.get()) is not None:
        answers.put([tensor.numpy().tolist(), str(tensor.dtype), tensor.stop_gradient])
        with paddle.no_grad():
            tensor.multiply_(paddle.to_tensor(2, tensor.dtype))
        answers.put("done")


def filled(tensor):
    tensor[0] = 7.0


def made(queue, seen):
    queue.put(paddle.arange(3))
    seen.get()


def there_and_back(tensor):
    return pickle.loads(ForkingPickler.dumps(tensor))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_another_process_writes_is_seen_here(method):
    context = mp.get_context(method)
    queue, answers = context.Queue(), context.Queue()
    process = context.Process(target=doubled, args=(queue, answers), daemon=True)
    process.start()
    tensors = [
        paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]),
        paddle.to_tensor(3),
        paddle.to_tensor([1.5, 2.5], "bfloat16"),
        paddle.to_tensor([1.0, 2.0], stop_gradient=False),
    ]
    for tensor in tensors:
        expected = tensor.numpy().tolist()
        queue.put(tensor)
        assert answers.get(timeout=30) == [expected, str(tensor.dtype), tensor.stop_gradient]
        assert answers.get(timeout=30) == "done"
        assert tensor.numpy().tolist() == (np.array(expected) * 2).tolist()
    queue.put(None)
    process.join()


def test_an_argument_of_a_process_is_shared():
    tensor = paddle.to_tensor([1.0, 2.0])
    process = mp.get_context("spawn").Process(target=filled, args=(tensor,))
    process.start()
    process.join()
    assert tensor.tolist() == [7.0, 2.0]


def test_a_tensor_made_in_another_process_arrives():
    context = mp.get_context("fork")
    queue, seen = context.Queue(), context.Queue()
    process = context.Process(target=made, args=(queue, seen), daemon=True)
    process.start()
    assert queue.get(timeout=30).tolist() == [0, 1, 2]
    seen.put(True)
    process.join()


def test_a_view_of_what_is_shared_stays_a_view():
    first = there_and_back(paddle.arange(6).reshape([2, 3]))
    column = there_and_back(Tensor(first.array.T[1:]))
    first[0, 1] = 50
    assert column.tolist() == [[50, 4], [2, 5]]


@pytest.mark.parametrize("shape", [[0, 3], [], [2, 3]])
def test_any_shape_goes(shape):
    assert there_and_back(paddle.ones(shape)).shape == shape


def test_a_parameter_stays_one_and_learns():
    layer = paddle.nn.Linear(2, 2)
    weight = there_and_back(layer.weight)
    assert type(weight) is type(layer.weight) and not weight.stop_gradient
    opt = paddle.optimizer.SGD(1.0, parameters=[weight])
    before = weight.numpy().copy()
    weight.sum().backward()
    opt.step()
    assert np.allclose(layer.weight.numpy(), before - 1)


def test_a_result_that_wants_gradients_stays():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(TapeError, match="you can detach it"):
        there_and_back(x * 2)
    assert there_and_back((x * 2).detach()).tolist() == [2.0]
