"""What a recorded function does to Tensors it captures, and gradients through its blocks."""

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.errors import ArgumentError
from tests.jit.models import assert_equal


def static(function):
    return paddle.jit.to_static(function, full_graph=True)


def test_gradients_pass_a_branch_that_computes_in_several_steps():
    def function(x):
        if x.sum() > 0:
            x = paddle.tanh(paddle.exp(x) * 2.0)
        return x

    def run(call, start):
        x = paddle.to_tensor(start, stop_gradient=False)
        call(x).sum().backward()
        return [x.grad.numpy()]

    made = static(function)
    for start in ([0.1, 0.2], [-0.1, -0.2]):
        assert_equal(run(made, start), run(function, start))


def test_branches_of_differing_element_types_meet_in_the_wider_one():
    @static
    def function(x):
        k = 1
        if x.sum() > 0:
            y = x
        else:
            y, k = x.astype("int64"), 0.5
        return y, k

    y, k = function(paddle.to_tensor([1.0, 2.0]))
    assert (y.tolist(), float(k)) == ([1.0, 2.0], 1.0)
    y, k = function(paddle.to_tensor([-1.5, 1.0]))
    assert (y.tolist(), y.dtype, float(k)) == ([-1.0, 1.0], paddle.float32, 0.5)


def test_a_rank_that_a_tensor_decides_is_told_by_a_warning():
    @static
    def function(x):
        return x if x.sum() > 0 else x[0]

    with pytest.warns(UserWarning, match="the same rank"):
        assert function(paddle.to_tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert function(paddle.to_tensor([-1.0, -2.0])).tolist() == -1.0


class Rescaled(nn.Layer):
    """Keeps what it multiplied last in a buffer."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2], default_initializer=nn.initializer.Constant(3.0))
        self.register_buffer("last", paddle.zeros([2]))

    def forward(self, x):
        self.last = self.weight * x
        return self.last * self.last


def test_gradients_pass_a_buffer_that_was_rewritten():
    net = static(Rescaled())
    for _ in range(2):
        net(paddle.to_tensor([1.0, 2.0])).sum().backward()
        assert net.weight.grad.tolist() == [6.0, 24.0]
        assert net.last.tolist() == [3.0, 6.0]
        net.clear_gradients()


def test_a_weight_beside_a_number_is_spelt_as_a_variable_is():
    w = paddle.create_parameter([2], "float32")
    w.set_value(np.array([2.0, 4.0], "float32"))

    def parts(w):
        return [w * 3, 3.0 * w, w + 1, 1 - w, w / 2, -w, w > 2, 8 / w, w**2]

    @static
    def function(x):
        return [x + part for part in parts(w)]

    x = paddle.zeros([2])
    assert [v.tolist() for v in function(x)] == [v.tolist() for v in parts(w)[:6]] + [
        [0.0, 1.0],
        [4.0, 2.0],
        [4.0, 16.0],
    ]
    types = [o.type for o in function.concrete_program.main_program.global_block().ops]
    assert types[:6] == ["scale"] * 6
    assert types[6:12] == [
        *("fill_constant", "greater_than"),
        *("fill_constant", "elementwise_div"),
        *("fill_constant", "elementwise_pow"),
    ]


def test_set_value_is_recorded():
    total = paddle.zeros([2])

    @static
    def function(x):
        total.set_value(total + x)
        return total * 1.0

    x = paddle.to_tensor([1.0, 2.0])
    assert [function(x).tolist() for _ in range(3)] == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    assert total.tolist() == [3.0, 6.0]


def test_set_value_of_another_shape_is_refused_while_it_is_recorded():
    total = paddle.zeros([2])
    with pytest.raises(ArgumentError, match=r"float32\[2\] and cannot take .* float32\[3\]"):
        static(lambda x: total.set_value(x))(paddle.ones([3]))


@pytest.mark.parametrize("layer", ["spectral_norm", "weight_norm"])
def test_a_weight_computed_before_each_call_trains_as_in_eager_mode(layer):
    def run(convert):
        paddle.seed(5)
        net = nn.Sequential(getattr(nn.utils, layer)(nn.Linear(3, 2)), nn.Tanh())
        if convert:
            static(net)
        found = []
        for i in range(3):
            net(paddle.full([2, 3], 0.1 + i)).sum().backward()
            found += [p.grad.numpy() for p in net.parameters()]
            net.clear_gradients()
        return found + [v.numpy() for v in net.state_dict().values()]

    assert_equal(run(True), run(False))


CALLS = {
    "a quotient by a number": lambda x, w: x / 3 + x / 7.0,
    "products of rows": lambda x, w: nn.functional.linear(x, w).tanh(),
    "a matrix product": lambda x, w: paddle.matmul(x, w).tanh() + paddle.matmul(x * 2.0, w),
    "labels left out": lambda x, w: nn.functional.cross_entropy(
        paddle.matmul(x, w), paddle.to_tensor([[1, 0, 2], [0, 3, 1]]), ignore_index=0
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_round_as_in_eager_mode(name):
    random = np.random.default_rng(4)
    arrays = [random.standard_normal(s).astype("float32") for s in ((2, 3, 9), (9, 5))]

    def run(call):
        x, w = (paddle.to_tensor(a, stop_gradient=False) for a in arrays)
        found = call(x, w)
        found.sum().backward()
        return [found.numpy(), *(t.grad.numpy() for t in (x, w) if t.grad is not None)]

    assert_equal(run(static(CALLS[name])), run(CALLS[name]))


class Counting(nn.Layer):
    """Computes with a buffer that it changes afterwards, in one of some ways."""

    def __init__(self, way):
        super().__init__()
        self.way = way
        self.register_buffer("count", paddle.ones([1]))

    def forward(self, x):
        return getattr(self, self.way)(x)

    def plainly(self, x):
        y = x * x * self.count
        self.count = self.count + 1.0
        return y

    def in_a_branch(self, x):
        y = -x
        if x.sum() > 0:
            y = x * x * self.count
            self.count = self.count + 1.0
        return y

    def after_a_branch(self, x):
        y = x * x * self.count if x.sum() > 0 else -x
        self.count = self.count + 1.0
        return y

    def before_and_after(self, x):
        y = x * x * self.count
        if x.sum() > 0:
            self.count = self.count + 1.0
        return y * self.count * x

    def in_a_loop(self, x):
        i = paddle.zeros([1])
        while i < 3:
            x = x * x * self.count
            self.count = self.count + 1.0
            i = i + 1
        return x


WAYS = ("plainly", "in_a_branch", "after_a_branch", "before_and_after", "in_a_loop")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("whole", [True, False])
def test_gradients_are_those_of_a_buffer_before_it_was_changed(way, whole):
    def run(function, net):
        found = []
        for _ in range(2):
            x = paddle.to_tensor([1.5], stop_gradient=False)
            y = function(x)
            y.backward()
            found += [y.numpy(), x.grad.numpy(), net.count.numpy().copy()]
        return found

    net, other = Counting(way), Counting(way)
    assert_equal(run(paddle.jit.to_static(other, full_graph=whole), other), run(net, net))


# What `to_tensor` makes of a tensor, of parts and of numbers, whether a gradient is wanted or not.
COPIES = {
    "a tensor": lambda x, stop: x * paddle.to_tensor(x * 2.0, stop_gradient=stop),
    "parts": lambda x, stop: x * paddle.to_tensor([x[1], x[0]], stop_gradient=stop),
    "numbers": lambda x, stop: x * paddle.to_tensor([3.0, 4.0], stop_gradient=stop),
}


@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_made_while_recording_passes_no_gradient_on_as_in_eager_mode(kind, stop):
    def gradient(function):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        function(x, stop).sum().backward()
        return x.grad.tolist()

    whole = paddle.jit.to_static(COPIES[kind], full_graph=True)
    assert gradient(whole) == gradient(COPIES[kind])


def test_a_copy_made_while_recording_wants_no_gradient():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert static(lambda x: paddle.to_tensor(x * 2.0))(x).stop_gradient


def test_a_gradient_is_taken_of_a_copy_made_while_recording():
    @static
    def function(x):
        w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
        return paddle.grad((w * w * x).sum(), w)[0]

    assert function(paddle.to_tensor([1.0, 2.0])).tolist() == [6.0, 16.0]


def counted_up(x):
    y = paddle.zeros([2])
    paddle.assign(x * 3.0, y)
    return y * x


# What a function makes of `x`, with gradients that eager mode cuts off or lets through.
CUTS = {
    "a first derivative": lambda x: paddle.grad((x * x).sum(), x)[0] * x,
    "a derivative to go on from": lambda x: paddle.grad((x * x).sum(), x, create_graph=True)[0] * x,
    "a number": lambda x: x * x.sum().item(),
    "a copy on the host": lambda x: (x * 2.0).cpu() * x,
    "what is assigned": counted_up,
}


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("kind", CUTS)
def test_gradients_are_cut_off_where_eager_mode_cuts_them_off(kind, full):
    def run(function):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        out = function(x)
        out.sum().backward()
        return out.tolist(), x.grad.tolist()

    recorded = paddle.jit.to_static(CUTS[kind], full_graph=full)
    assert run(recorded) == run(CUTS[kind])
