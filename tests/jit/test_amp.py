"""Mixed precision and recorded functions: the same numbers as in eager mode, bit for bit."""

import threading

import numpy as np
import pytest

import scull as paddle
from scull.errors import ScullError
from tests.jit.models import assert_equal

F = paddle.nn.functional
STEPS = 20


def half(**options):
    return paddle.amp.auto_cast(dtype="bfloat16", **options)


class Block(paddle.nn.Layer):
    """A transformer block between an embedding and the scores of words."""

    def __init__(self):
        super().__init__()
        self.embed = paddle.nn.Embedding(10, 8)
        self.encode = paddle.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
        self.score = paddle.nn.Linear(8, 10)

    def forward(self, words):
        return self.score(self.encode(self.embed(words)))


def pictures():
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 3, 3), paddle.nn.BatchNorm2D(3), paddle.nn.ReLU(),
        paddle.nn.MaxPool2D(2), paddle.nn.Dropout(0.2), paddle.nn.Flatten(),
        paddle.nn.Linear(27, 4), paddle.nn.LayerNorm(4), paddle.nn.Linear(4, 3),
    )  # fmt: skip
    return net, paddle.rand([5, 1, 8, 8]), paddle.randint(0, 3, [5])


def sentences():
    return Block(), paddle.randint(0, 10, [4, 6]), paddle.randint(0, 10, [4, 6])


NETS = {"pictures": pictures, "sentences": sentences}


class Training:
    """A training run: the losses of 20 steps and the parameters after them."""

    def __init__(self, kind, level, static, **options):
        paddle.seed(5)
        self.net, *self.data = NETS[kind]()
        clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        self.optimizer = paddle.optimizer.AdamW(
            0.01, parameters=self.net.parameters(), grad_clip=clip
        )
        self.level, self.static, self.options = level, static, options
        if level == "O2":
            paddle.amp.decorate(self.net, self.optimizer, level="O2", dtype="bfloat16", **options)

    def made_static(self, function):
        return paddle.jit.to_static(function, full_graph=True) if self.static else function

    def loss(self, x, label):
        return F.cross_entropy(self.net(x), label)

    def ran(self, losses):
        return [*losses, *(p.astype("float32").numpy() for p in self.net.parameters())]

    def outside(self, scaler):
        call = self.made_static(self.loss)
        losses = []
        for _ in range(STEPS):
            with half(level=self.level):
                loss = call(*self.data)
            losses.append(loss.astype("float32").numpy())
            scaler.scale(loss).backward()
            scaler.step(self.optimizer)
            scaler.update()
            self.optimizer.clear_grad()
        return self.ran(losses)

    def inside(self):
        def within(x, label):
            with half(level=self.level):
                return self.loss(x, label)

        call = self.made_static(within)
        losses = []
        for _ in range(STEPS):
            loss = call(*self.data)
            losses.append(loss.astype("float32").numpy())
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
        return self.ran(losses)

    def whole(self):
        def step(x, label):
            with half(level=self.level):
                loss = self.loss(x, label)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            return loss

        call = self.made_static(step)
        losses = [call(*self.data).astype("float32").numpy() for _ in range(STEPS)]
        return self.ran(losses)


@pytest.mark.parametrize("level", ["O1", "O2", "OD"])
@pytest.mark.parametrize("kind", NETS)
@pytest.mark.parametrize("scaled", [False, True])
def test_a_recorded_network_trains_within_a_block_as_in_eager_mode(kind, level, scaled):
    def losses(static):
        scaler = paddle.amp.GradScaler(enable=scaled, init_loss_scaling=1024.0)
        return Training(kind, level, static).outside(scaler)

    found = losses(True)
    assert_equal(found, losses(False))
    assert found[STEPS - 1] < found[0]


@pytest.mark.parametrize("level", ["O1", "O2", "OD"])
@pytest.mark.parametrize("kind", NETS)
def test_a_block_within_a_recorded_function_casts_as_in_eager_mode(kind, level):
    assert_equal(Training(kind, level, True).inside(), Training(kind, level, False).inside())


@pytest.mark.parametrize("level, wide", [("O1", False), ("O2", False), ("O2", True)])
@pytest.mark.parametrize("kind", NETS)
def test_a_whole_step_updates_the_wide_copies_of_parameters(kind, level, wide):
    first = Training(kind, level, True, master_grad=wide)
    assert_equal(first.whole(), Training(kind, level, False, master_grad=wide).whole())
    assert bool(first.optimizer._master_weights) is (level == "O2")


def test_one_function_has_a_program_for_each_setting_and_for_none():
    @paddle.jit.to_static
    def product(x):
        return paddle.matmul(x, x)

    x = paddle.rand([2, 2])

    def kinds():
        found = [product(x).dtype.name]
        with half():
            found.append(product(x).dtype.name)
        with half(custom_black_list={"matmul_v2"}):
            found.append(product(x).dtype.name)
        with half(), paddle.amp.auto_cast(enable=False):
            found.append(product(x).dtype.name)
        return found

    assert kinds() == kinds() == ["float32", "bfloat16", "float32", "float32"]
    assert len(product.program_cache) == 3


def test_one_layer_has_a_program_for_each_setting():
    net = paddle.jit.to_static(paddle.nn.Linear(2, 2, bias_attr=False))
    x = paddle.rand([2, 2])
    for _ in range(2):
        with half():
            assert net(x).dtype.name == "bfloat16"
        assert net(x).dtype.name == "float32"
    assert len(net.forward.program_cache) == 2


def test_a_recorded_function_called_by_another_takes_part_in_its_block():
    @paddle.jit.to_static
    def inner(x):
        return paddle.matmul(x, x)

    @paddle.jit.to_static
    def outer(x):
        with half():
            few = inner(x)
            with paddle.amp.auto_cast(enable=False):
                wide = inner(x)
        return few, wide, inner(x)

    assert [t.dtype.name for t in outer(paddle.rand([2, 2]))] == ["bfloat16", "float32", "float32"]


def test_branches_and_loops_within_a_block_are_cast():
    def run(x, times):
        with half():
            total = paddle.zeros([2, 2])
            for _ in range(times):
                if total.sum() < 3.0:
                    total = total + paddle.matmul(x, x)
                else:
                    total = total + F.softmax(x)
        return total

    x, times = paddle.rand([2, 2]), paddle.to_tensor(4)
    static = paddle.jit.to_static(run, full_graph=True)
    assert_equal([static(x, times).numpy()], [run(x, 4).numpy()])


def test_pieces_of_graph_are_cast():
    def run(x):
        y = paddle.matmul(x, x)
        if not y.numpy().any():
            return x
        return F.softmax(paddle.matmul(y, x))

    x = paddle.rand([2, 2])
    x.stop_gradient = False
    static = paddle.jit.to_static(run, full_graph=False)
    with half():
        with pytest.warns(UserWarning, match="pieces of graph"):
            first = static(x)
        found, wanted = static(x), run(x)
    assert "2 pieces of graph" in static.report() and "3 operators" in static.report()
    grads = [paddle.grad(y.sum(), x)[0].numpy() for y in (first, found, wanted)]
    assert_equal([found.numpy(), first.numpy(), *grads[:2]], [wanted.numpy()] * 2 + [grads[2]] * 2)


def test_a_pylayer_within_a_recorded_block_is_cast():
    class Product(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.matmul(x, x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g.astype("float32") * x

    def run(x):
        with half():
            y = Product.apply(x)
        return y.astype("float32").sum(), y

    x = paddle.rand([2, 2])
    x.stop_gradient = False
    pairs = []
    for call in (paddle.jit.to_static(run, full_graph=True), run):
        loss, y = call(x)
        pairs.append([y.numpy(), paddle.grad(loss, x)[0].numpy()])
    assert_equal(*pairs)


def test_threads_with_settings_of_their_own_share_a_function():
    @paddle.jit.to_static
    def product(x):
        return paddle.matmul(x, x)

    x, wrong = paddle.rand([2, 2]), []

    def work(wanted, **options):
        for _ in range(50):
            with paddle.amp.auto_cast(dtype="bfloat16", **options):
                if product(x).dtype.name != wanted:
                    wrong.append(wanted)

    threads = [
        threading.Thread(target=work, args=("bfloat16",)),
        threading.Thread(target=work, args=("float32",), kwargs={"enable": False}),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_function_saved_within_a_block_loads_with_its_casts(tmp_path):
    net = paddle.nn.Linear(2, 2, bias_attr=False)
    spec = [paddle.static.InputSpec([None, 2], "float32")]
    with half():
        paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec)
        x = paddle.rand([3, 2])
        wanted = net(x)
    found = paddle.jit.load(str(tmp_path / "net"))(x)
    assert found.dtype.name == "bfloat16"
    assert np.array_equal(found.numpy(), wanted.numpy())


def test_a_loaded_model_computes_in_its_own_element_types_within_a_block(tmp_path):
    net = paddle.nn.Linear(2, 2)
    spec = [paddle.static.InputSpec([None, 2], "float32")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    loaded, x = paddle.jit.load(str(tmp_path / "net")), paddle.rand([3, 2])
    with half():
        found = loaded(x)
    assert np.array_equal(found.numpy(), net(x).numpy())


def test_a_mistake_within_a_recorded_block_is_told_as_in_eager_mode():
    def run(x):
        with half():
            return paddle.matmul(x, x)

    x = paddle.rand([2, 3])
    laws = []
    for call in (run, paddle.jit.to_static(run, full_graph=True)):
        with pytest.raises(ScullError) as caught:
            call(x)
        laws.append(str(caught.value).splitlines()[0])
    assert laws[0] in laws[1] or laws[0] == laws[1]


def test_gradients_of_lists_with_few_digits_are_those_of_eager_mode():
    def run(x, y):
        a, b = paddle.split(paddle.concat([x, y, x]), 2)
        return paddle.stack([a * b, paddle.add_n([a, b])]).sum()

    pairs = []
    for call in (paddle.jit.to_static(run, full_graph=True), run):
        x, y = paddle.ones([2, 2], "bfloat16"), paddle.full([2, 2], 3.0, "bfloat16")
        x.stop_gradient = y.stop_gradient = False
        call(x, y).backward()
        pairs.append([x.grad.numpy(), y.grad.numpy()])
    assert_equal(*pairs)
