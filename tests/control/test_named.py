"""Programs with control flow as people write them: one thing in every form."""

import itertools

import numpy as np
import pytest

import scull as paddle
from scull.flags import flags
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled

nn, arrays = paddle.static.nn, paddle.tensor
STEP = 1e-6


@pytest.fixture(autouse=True)
def double():
    paddle.set_default_dtype("float64")
    yield
    paddle.disable_static()
    paddle.set_default_dtype("float32")


def number(value):
    return paddle.full([1], value, "int64")


def total(results):
    """One number of those results that are of fractions."""
    parts = [paddle.sum(v * v) for v in results if v.dtype in (paddle.float64, "float64")]
    return sum(parts[1:], parts[0])


class Named:
    """A function of a layer and some operands, which gives a list of results."""

    def __init__(self, function, *values, layer=lambda: None):
        self.function, self.layer = function, layer
        self.values = [np.asarray(v) for v in values]
        paddle.seed(0)
        model = layer()
        self.weights = [p.numpy() for p in model.parameters()] if model else []

    def eager(self, values):
        """Results and gradients as Python gives them."""
        paddle.disable_static()
        model = self.layer()
        tensors = [paddle.to_tensor(v, stop_gradient=v.dtype.kind != "f") for v in values]
        weights = model.parameters() if model else []
        for p, value in zip(weights, self.weights, strict=True):
            p.set_value(value)
        results = self.function(model, *tensors)
        total(results).backward()
        given = [*tensors, *weights]
        return [v.numpy() for v in results], [
            None if v.grad is None else v.grad.numpy() for v in given
        ]

    def recorded(self):
        """The Program, its results, its operands and its gradients, whose names may be None."""
        paddle.enable_static()
        main = paddle.static.Program()
        startup = paddle.static.Program()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            model = self.layer()
            data = []
            for i, v in enumerate(self.values):
                data.append(paddle.static.data(f"x{i}", v.shape, str(v.dtype)))
                data[-1].stop_gradient = v.dtype.kind != "f"
            results = self.function(model, *data)
            given = [*data, *(model.parameters() if model else [])]
            loss = total(results)
            before = main.clone()
            found = paddle.static.gradients([loss], [v for v in given if not v.stop_gradient])
        verify(main)
        names = [None if v is None else v.name for v in found]
        return main, before, [v.name for v in results], [v.name for v in given], names

    def run(self, program, given, fetches, **settings):
        """What a Program gives, None for names that are None."""
        count, scope = len(self.values), paddle.static.Scope()
        for name, value in zip(given[count:], self.weights, strict=True):
            scope.var(name).value = value.copy()
        feed = dict(zip(given[:count], self.values, strict=True))
        with paddle.static.scope_guard(scope), flags(**settings):
            asked = [n for n in fetches if n is not None]
            found = iter(paddle.static.Executor().run(program, feed=feed, fetch_list=asked))
        return [None if n is None else next(found) for n in fetches]

    def check(self):
        """Every form has the same bits, and small steps show the gradients; the results."""
        results, gradients = self.eager(self.values)
        gradients = [g for v, g in zip([*self.values, *self.weights], gradients, strict=True)
                     if v.dtype.kind == "f"]  # fmt: skip
        main, before, names, given, partial = self.recorded()
        found = self.run(main, given, [*names, *partial])
        for a, b in zip(found, results, strict=False):
            assert a.tobytes() == b.tobytes() and a.shape == b.shape
        for a, b in zip(found[len(names) :], gradients, strict=True):
            assert np.allclose(0 if a is None else a, 0 if b is None else b, 1e-9, 1e-11)
        for order in (-1, 3):
            flat = self.run(lowered(main), given, [*names, *partial], SCHEDULE_SEED=order)
            for a, b in zip(flat, found, strict=True):
                assert (a is b is None) or a.tobytes() == b.tobytes()
        short = unrolled(before).program
        verify(short)
        for form in (before, short, lowered(short)):
            for a, b in zip(self.run(form, given, names), results, strict=True):
                assert a.tobytes() == b.tobytes()
        self.check_steps(gradients)
        return results

    def check_steps(self, gradients):
        """The gradients of the operands are what small steps show."""
        places = [i for i, v in enumerate(self.values) if v.dtype.kind == "f"]
        for place, gradient in zip(places, gradients, strict=False):
            along = np.random.default_rng(place).standard_normal(self.values[place].shape)
            ends = []
            for s in (STEP, -STEP):
                values = [v + s * along if i == place else v for i, v in enumerate(self.values)]
                ends.append(sum(float((r * r).sum()) for r in self.eager(values)[0]
                                if r.dtype.kind == "f"))  # fmt: skip
            shown = (ends[0] - ends[1]) / (2 * STEP)
            given = 0.0 if gradient is None else float(np.sum(gradient * along))
            assert shown == pytest.approx(given, rel=1e-5, abs=1e-6 * max(1.0, abs(ends[0])))


def random(*shape):
    return np.random.default_rng(len(shape)).uniform(-1.0, 1.0, shape)


@pytest.mark.parametrize("normed", [False, True])
def test_a_decoder_built_by_a_loop_over_layers_with_a_last_norm_or_none(normed):
    class Decoder(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            make = paddle.nn.TransformerDecoderLayer
            self.layers = paddle.nn.LayerList([make(4, 2, 8, dropout=0.0) for _ in range(2)])
            self.norm = paddle.nn.LayerNorm(4) if normed else None

        def forward(self, x, memory):
            for layer in self.layers:
                x = layer(x, memory)
            if self.norm is not None:
                x = self.norm(x)
            return x

    def function(model, x, memory):
        return [model(x, memory)]

    Named(function, random(2, 3, 4), random(2, 2, 4), layer=Decoder).check()


def test_two_counted_loops_within_one_another():
    def function(_, x, w):
        def inner(i, j, y):
            return [i, j + 1, paddle.tanh(y * w) + x]

        def outer(i, y):
            start = [i, number(0), y * 0.5]
            _, _, y = nn.while_loop(lambda i, j, y: j <= i, inner, start)
            return [i + 1, y]

        return nn.while_loop(lambda i, y: i < 3, outer, [number(0), x * 1.0])[1:]

    (found,) = Named(function, random(3), random(3)).check()
    x, w = random(3), random(3)
    expected = x.copy()
    for i in range(3):
        expected = expected * 0.5
        for _ in range(i + 1):
            expected = np.tanh(expected * w) + x
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_newton_goes_on_until_it_is_near_enough():
    def function(_, w):
        def far(y):
            return paddle.max(paddle.abs(y * y * y - w)) > 1e-13

        return nn.while_loop(far, lambda y: y - (y * y * y - w) / (3.0 * y * y), [w * 0.0 + 1.0])

    w = np.array([8.0, 0.125, 3.0])
    (found,) = Named(function, w).check()
    np.testing.assert_allclose(found, np.cbrt(w), rtol=1e-13)


WIDTH, LENGTH, WORDS = 2, 4, 5


def beam(_, first, step):
    """The likeliest words by beam search: lists keep each step's words and where they came from."""
    scores, words = paddle.topk(first, WIDTH)
    kept = arrays.array_write(words, number(0))
    origins = arrays.array_write(paddle.zeros_like(words), number(0))

    def body(i, scores, words, kept, origins):
        all_scores = paddle.reshape(paddle.unsqueeze(scores, 1) + paddle.gather(step, words), [-1])
        scores, places = paddle.topk(all_scores, WIDTH)
        words = places % WORDS
        kept = arrays.array_write(words, i, kept)
        origins = arrays.array_write(places // WORDS, i, origins)
        return [i + 1, scores, words, kept, origins]

    start = [number(1), scores, words, kept, origins]
    _, scores, _, kept, origins = nn.while_loop(lambda i, *_: i < LENGTH, body, start)

    def back(i, beam, path):
        path = arrays.array_write(paddle.gather(arrays.array_read(kept, i), beam), i, path)
        return [i - 1, paddle.gather(arrays.array_read(origins, i), beam), path]

    best = paddle.argmax(scores, keepdim=True)
    start = [number(LENGTH - 1), best, arrays.create_array("int64", [best] * LENGTH)]
    _, _, path = nn.while_loop(lambda i, *_: i >= 0, back, start)
    found, _ = paddle.tensor.manipulation.tensor_array_to_tensor(path, 0)
    return [paddle.max(scores), found]


def searched(first, step):
    """The same in Python."""
    beams = sorted(((float(s), (w,)) for w, s in enumerate(first)), reverse=True)[:WIDTH]
    for _ in range(LENGTH - 1):
        longer = [
            (s + step[words[-1], w], (*words, w))
            for (s, words), w in itertools.product(beams, range(WORDS))
        ]
        beams = sorted(longer, reverse=True)[:WIDTH]
    return beams[0]


def test_beam_search_keeps_its_steps_in_lists():
    chance = np.random.default_rng(4)
    first, step = chance.standard_normal(WORDS), chance.standard_normal((WORDS, WORDS))
    score, words = Named(beam, first, step).check()
    best, expected = searched(first, step)
    assert float(score) == pytest.approx(best, rel=1e-14)
    assert tuple(words.tolist()) == expected


def test_a_recurrent_network_by_a_loop_is_the_one_of_the_library():
    def function(model, x):
        by_layer, states = model(x)
        cell = model.state_dict()
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        wi, wh, bi, bh = (cell[f"0.cell.{n}"] for n in names)
        rows = paddle.transpose(x, [1, 0, 2])
        steps = arrays.create_array("float64")

        def body(i, h, c, steps):
            row = paddle.squeeze(paddle.gather(rows, i), [0])
            gates = paddle.matmul(row, wi, transpose_y=True) + bi
            gates = gates + paddle.matmul(h, wh, transpose_y=True) + bh
            a, f, g, o = paddle.split(gates, 4, axis=-1)
            sigmoid = paddle.nn.functional.sigmoid
            c = sigmoid(f) * c + sigmoid(a) * paddle.tanh(g)
            h = sigmoid(o) * paddle.tanh(c)
            return [i + 1, h, c, arrays.array_write(h, i, steps)]

        h, c = (paddle.zeros([2, 3]) for _ in range(2))
        h.stop_gradient = c.stop_gradient = False  # a Program asks for that, as the reference does
        start = [number(0), h, c, steps]
        _, last, state, steps = nn.while_loop(lambda i, *_: i < 4, body, start)
        found, _ = paddle.tensor.manipulation.tensor_array_to_tensor(steps, 1, use_stack=True)
        return [found, last, state, by_layer, *(s[0] for s in states)]

    results = Named(function, random(2, 4, 3), layer=lambda: paddle.nn.LSTM(3, 3)).check()
    for mine, library in zip(results[:3], results[3:], strict=True):
        np.testing.assert_allclose(mine, library, rtol=1e-13, atol=1e-15)


def test_a_loop_without_rounds_hands_on_what_it_got():
    def function(_, x, w):
        def body(i, y):
            return [i + 1, paddle.tanh(y * w)]

        start = [number(9), x * 1.0]
        return [nn.while_loop(lambda i, y: i < 3, body, start)[1] * w]

    (found,) = Named(function, random(3), random(3)).check()
    assert found.tolist() == (random(3) * random(3)).tolist()


@pytest.mark.parametrize("limit", [-9.0, 9.0])
def test_a_branch_none_of_whose_results_needs_a_gradient(limit):
    def function(_, x):
        def largest():
            return paddle.argmax(x), paddle.floor(x).detach()

        def nothing():
            return paddle.full([], 0, "int64"), paddle.zeros([3])

        place, whole = nn.cond(paddle.sum(x) > limit, largest, nothing)
        whole.stop_gradient = True
        return [x * whole + paddle.cast(place, "float64")]

    Named(function, random(3)).check()


@pytest.mark.parametrize("limit", [-9.0, 9.0])
def test_a_branch_that_writes_a_variable_around_it(limit):
    def function(_, x, w):
        y = x * 1.0

        def write():
            paddle.assign(paddle.tanh(y) * w, y)

        nn.cond(paddle.sum(x) > limit, write, None)
        return [y * x]

    Named(function, random(3), random(3)).check()
