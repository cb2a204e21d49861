"""A Model trains, tests, predicts, saves and loads as PaddlePaddle 2.6.2 does, in both modes."""

import doctest
import itertools
import os
import pickle
import re

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    FileError,
    RunError,
    UnsupportedError,
)
from scull.hapi import model as model_module
from scull.static import InputSpec
from tests.hapi.fresh import fresh

INPUTS, LABELS = [InputSpec([None, 6], "float32", "x")], [InputSpec([None, 1], "int64", "y")]
TIMES = [(r"\d+(us|ms|s)/step", "T/step"), (r"\d\.\d{5} sec", "S sec"), (r"\S+ samples/", "R s/")]


class Points(paddle.io.Dataset):
    """Points in six dimensions of three classes."""

    def __init__(self, count, seed=0):
        random = np.random.RandomState(seed)
        self.x = random.rand(count, 6).astype("float32")
        self.y = (self.x.sum(1) * 1.2).astype("int64")[:, None] % 3

    def __getitem__(self, index):
        return self.x[index], self.y[index]

    def __len__(self):
        return len(self.x)


class Network(nn.Layer):
    """Layers whose first parameters only a seed decides."""

    def __init__(self, width=8):
        super().__init__()
        self.a, self.bn, self.b = nn.Linear(6, width), nn.BatchNorm1D(width), nn.Linear(width, 3)

    def forward(self, x):
        return self.b(self.bn(nn.functional.relu(self.a(x))))


class Both(nn.Layer):
    """Two losses."""

    def forward(self, scores, label):
        return [nn.functional.cross_entropy(scores, label), paddle.mean(scores * scores)]


@pytest.fixture(params=["eager", "static"])
def mode(request):
    with fresh(request.param == "static"):
        yield request.param


def started(model, folder):
    """The Model with parameters that a seed decides, from a plain pickle of arrays."""
    random = np.random.RandomState(3)
    state = {
        name: (random.rand(*value.shape) * 0.5).astype("float32")
        for name, value in model.network.state_dict().items()
    }
    (folder / "start.pdparams").write_bytes(pickle.dumps(state, protocol=2))
    model.load(str(folder / "start"))
    return model


def learning(folder, optimizer="Momentum", rate=0.05, loss=None, metric=(1, 2), **options):
    model = paddle.Model(Network(), INPUTS, LABELS)
    made = getattr(paddle.optimizer, optimizer)(
        rate, parameters=model.parameters(), weight_decay=0.01
    )
    loss = nn.CrossEntropyLoss() if loss is None else loss
    model.prepare(made, loss, [paddle.metric.Accuracy(topk=metric)], **options)
    return started(model, folder)


def prepared(model):
    model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.MSELoss())
    return model


def shown(text, folder):
    for pattern, word in TIMES:
        text = re.sub(pattern, word, text)
    return text.replace(str(folder), "FOLDER")


def values(model):
    return model.predict(Points(9, 2), batch_size=9, verbose=0, stack_outputs=True)[0]


def test_the_examples_print_what_they_say():
    results = doctest.testmod(model_module)
    assert results.attempted and not results.failed


def test_fit_evaluate_and_predict_print_what_paddle_prints(mode, tmp_path, capsys, golden):
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    model = learning(tmp_path, "SGD", rate)
    folder = tmp_path / "saved"
    model.fit(
        Points(50), Points(20, 1), batch_size=[8, 6], epochs=2, log_freq=3, save_dir=str(folder)
    )
    found = model.evaluate(Points(20, 1), batch_size=6, verbose=1, log_freq=2)
    assert np.allclose(found["loss"], 1.0143, atol=1e-4) and found["acc_top2"] == 0.95
    rows = model.predict(Points(20, 1), batch_size=6, verbose=2)
    assert [batch.shape for batch in rows[0]] == [(6, 3)] * 3 + [(2, 3)]
    text = shown(capsys.readouterr().out, tmp_path)
    assert re.sub(r"ETA: \d+s", "ETA: E", text) == golden("model_prints")
    names = {"0.pdparams", "1.pdparams", "final.pdparams"}
    names |= {"0.pdopt", "1.pdopt", "final.pdopt"}
    assert {name for name in os.listdir(folder) if not name.startswith(".")} == names


def test_batches_of_gradients_are_summed(tmp_path):
    with paddle.utils.unique_name.guard():
        model = learning(tmp_path, rate=0.05)
    model.fit(Points(50), batch_size=8, epochs=2, verbose=0, accumulate_grad_batches=2)
    states = model._optimizer.state_dict()
    sums = {name: float(value.numpy().sum()) for name, value in states.items()}
    assert np.isclose(sums["linear_0.w_0_velocity_0"], 0.5134, atol=1e-4)
    assert np.isclose(sums["batch_norm1d_0.b_0_velocity_0"], 0.4386, atol=1e-4)


def test_batches_give_losses_and_metrics_as_paddle_does(mode, tmp_path):
    model, points = learning(tmp_path, loss=Both(), metric=(1,)), Points(8)
    losses, metrics = model.train_batch([points.x], [points.y])
    assert [(loss.shape, loss.dtype.name) for loss in losses] == [((), "float32")] * 2
    assert len(metrics) == 1 and 0 <= metrics[0] <= 1
    label = paddle.to_tensor(points.y) if mode == "eager" else points.y
    losses, metrics = model.eval_batch(points.x, label)
    assert len(losses) == 2 and len(metrics) == 1
    [scores] = model.predict_batch([points.x])
    assert isinstance(scores, np.ndarray) and scores.shape == (8, 3)
    model.prepare(metrics=paddle.metric.Accuracy())
    started(model, tmp_path)
    assert model.eval_batch([points.x], [points.y]) == [0.375]
    assert model.evaluate(points, batch_size=4, verbose=0) == {"acc": 0.375}
    with pytest.raises(AssertError, match="model not ready"):
        model.train_batch([points.x], [points.y])


@pytest.mark.parametrize("back", [False, True])
def test_training_goes_on_from_files_of_either_mode(back, tmp_path):
    """Whatever numbers made the names of the optimizer's state unique."""

    with fresh(static=not back):
        first = learning(tmp_path, "Adam", 0.01)
        first.fit(Points(24), batch_size=8, verbose=0)
        first.save(str(tmp_path / "half"))
        first.fit(Points(24), batch_size=8, verbose=0, shuffle=False)
        expected = values(first)
    with fresh(static=back):
        second = learning(tmp_path, "Adam", 0.01)
        second.train_batch([Points(8).x], [Points(8).y])
        second.load(str(tmp_path / "half.pdparams"))
        second.fit(Points(24), batch_size=8, verbose=0, shuffle=False)
        assert np.allclose(values(second), expected, rtol=0, atol=1e-5)


def test_states_that_are_not_made_yet_are_loaded_under_any_number(tmp_path):
    first = learning(tmp_path)
    first.train_batch([Points(8).x], [Points(8).y])
    first.save(str(tmp_path / "half"))
    first._optimizer = paddle.optimizer.Momentum(0.05, parameters=first.parameters())
    first.load(str(tmp_path / "half"))
    saved = paddle.load(str(tmp_path / "half.pdopt"), return_numpy=True)
    own = {name.rpartition("_")[0]: v.numpy() for name, v in first._optimizer.state_dict().items()}
    assert saved and all(
        np.array_equal(own[name.rpartition("_")[0]], value) for name, value in saved.items()
    )


def test_an_inference_model_gives_what_the_model_gives(mode, tmp_path):
    model = learning(tmp_path)
    expected, x = values(model), Points(9, 2).x
    model.save(str(tmp_path / "asked"), training=False)
    model.save(str(tmp_path / "asked"))
    names = {name for name in os.listdir(tmp_path) if name.startswith("asked.")}
    assert {"asked.pdmodel", "asked.pdiparams", "asked.pdparams"} <= names
    paddle.disable_static()
    loaded = paddle.jit.load(str(tmp_path / "asked"))
    assert np.allclose(loaded(paddle.to_tensor(x)).numpy(), expected, atol=1e-6)


def test_an_inference_model_needs_to_know_its_inputs(tmp_path):
    model = paddle.Model(Network())
    model.prepare()
    with pytest.raises(RunError, match="needs 'inputs' or running before"):
        model.save(str(tmp_path / "asked"), training=False)
    model.predict_batch(Points(4).x)
    with pytest.warns(UserWarning, match=r"to be saved is \[\[4, 6\]\]"):
        model.save(str(tmp_path / "asked"), training=False)
    loaded = paddle.jit.load(str(tmp_path / "asked"))
    assert loaded(paddle.ones([4, 6])).shape == [4, 3]


def test_what_does_not_fit_is_refused_or_skipped(mode, tmp_path):
    first = learning(tmp_path)
    first.train_batch([Points(8).x], [Points(8).y])
    first.save(str(tmp_path / "narrow"))
    wide = paddle.Model(Network(9), INPUTS, LABELS)
    optimizer = paddle.optimizer.Momentum(0.05, parameters=wide.parameters())
    wide.prepare(optimizer, nn.CrossEntropyLoss())
    with pytest.raises(ArgumentError, match=r"a.weight receives a shape \[6, 8\], but .* \[6, 9\]"):
        wide.load(str(tmp_path / "narrow"))
    with pytest.warns(UserWarning, match="Skip loading for") as warned:
        wide.load(str(tmp_path / "narrow"), skip_mismatch=True)
    assert len(warned) == 7  # all but b.bias
    state = paddle.load(str(tmp_path / "narrow.pdparams"), return_numpy=True)
    wide.save(str(tmp_path / "wide"))
    kept = paddle.load(str(tmp_path / "wide.pdparams"), return_numpy=True)
    assert np.array_equal(kept["b.bias"], state["b.bias"])
    with pytest.raises(AssertError, match="Failed to load parameters"):
        wide.load(str(tmp_path / "nothing"))
    with pytest.raises(AssertError, match=r"Unknown postfix \.txt"):
        wide.load(str(tmp_path / "narrow.txt"))
    (tmp_path / "broken.pdparams").write_bytes(b"\x80\x04broken")
    with pytest.raises(FileError):
        wide.load(str(tmp_path / "broken"))


class Interrupting(paddle.callbacks.Callback):
    def on_train_batch_begin(self, step, logs=None):
        if step == 2:
            raise KeyboardInterrupt


def test_ctrl_c_leaves_a_model_that_goes_on(mode, tmp_path):
    model, twin = learning(tmp_path), learning(tmp_path)
    options = {"batch_size": 8, "shuffle": False, "verbose": 0}
    options |= {"accumulate_grad_batches": 2} if mode == "eager" else {}
    with pytest.raises(KeyboardInterrupt):
        model.fit(Points(40), callbacks=Interrupting(), **options)
    twin.fit(Points(16), **options)
    if mode == "eager":
        assert np.array_equal(values(model), values(twin))
        assert not any(p.grad.numpy().any() for p in model.parameters() if p.grad is not None)
    assert model._metrics[0].accumulate() == [0.0, 0.0]
    model.fit(Points(16), **options)


def test_a_model_learns_from_any_batches(tmp_path):
    class Stream(paddle.io.IterableDataset):
        def __iter__(self):
            return zip(Points(10).x, Points(10).y, strict=True)

    model, points = learning(tmp_path), Points(8)
    seen = []

    class Steps(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            seen.append((step, logs["batch_size"]))

    model.fit(Stream(), batch_size=4, verbose=0, callbacks=Steps())
    assert seen == [(0, 4), (1, 4), (2, 2)]
    batches = [([points.x], [points.y])] * 3
    model.fit(batches, epochs=9, num_iters=4, verbose=0, callbacks=[Steps()])
    assert seen[3:] == [(0, 8), (1, 8), (2, 8), (0, 8)] and model.stop_training
    loader = paddle.io.DataLoader(Points(10), batch_size=5, num_workers=2)
    model.fit(loader, epochs=2, verbose=0)
    assert not model.stop_training
    endless = ((points.x, points.y) for _ in itertools.count())
    model.fit(endless, num_iters=2, verbose=0)
    assert model.evaluate(Points(30), batch_size=5, num_iters=2, verbose=0)["acc_top2"] in (
        np.arange(11) / 10
    )


@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.filterwarnings("ignore:.*float16.*:UserWarning")
def test_mixed_precision_learns(mode, level, tmp_path):
    configs = {"level": level, "init_loss_scaling": 128.0, "use_dynamic_loss_scaling": True}
    model = learning(tmp_path, amp_configs=configs)
    before = float(np.sum(model.eval_batch([Points(48).x], [Points(48).y])[0]))
    model.fit(Points(48), batch_size=8, epochs=8, verbose=0)
    assert float(np.sum(model.eval_batch([Points(48).x], [Points(48).y])[0])) < before
    model.save(str(tmp_path / "mixed"))
    model.load(str(tmp_path / "mixed"))
    assert (tmp_path / "mixed.pdscaler").exists() == (mode == "eager")


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda m: m.prepare(loss=3), ArgumentTypeError, "'loss' must be"),
        (lambda m: m.prepare(metrics=3), AssertError, "int is not sub class of Metric"),
        (lambda m: m.prepare(amp_configs="O3"), ArgumentError, "'O0', 'O1' or 'O2', not 'O3'"),
        (lambda m: m.prepare(amp_configs={"scale": 1}), ArgumentError, r"\['scale'\]"),
        (lambda m: m.prepare(amp_configs={"use_pure_fp16": 1}), ArgumentError, "invalid"),
        (lambda m: m.prepare(amp_configs={"use_fp16_guard": 1}), ArgumentError, "static graph"),
        (lambda m: m.fit(), AssertError, "train_data must be given"),
        (lambda m: m.fit(Points(8), batch_size=[1, 2, 3]), AssertError, "batch_size length"),
        (lambda m: m.fit(Points(8), batch_size="8"), ArgumentTypeError, "two of them, not '8'"),
        (lambda m: m.fit(Points(8), num_iters=0), AssertError, "greater than 0"),
        (lambda m: m.fit(Points(8)), AssertError, "model not ready"),
        (lambda m: prepared(m).fit(Points(3), None, 4, drop_last=True), ArgumentError, "no batch"),
        (lambda m: prepared(m).fit(Points(8), callbacks=[3]), ArgumentTypeError, "not a Callback"),
        (lambda m: m.save("folder/"), AssertError, "'dirname/filename' format"),
        (lambda m: paddle.Model(Network(), InputSpec([1])), ArgumentError, "name != None"),
        (lambda m: paddle.Model(Network(), [3]), AssertError, "is an InputSpec, not int"),
    ],
)
def test_what_cannot_be_is_refused(call, error, law, capsys):
    with pytest.raises(error, match=law):
        call(paddle.Model(Network()))
    assert law == "no batch" or "Epoch 1" not in capsys.readouterr().out


def test_static_mode_says_what_it_needs():
    with fresh(static=True):
        with pytest.raises(ArgumentTypeError, match="'inputs' must be"):
            paddle.Model(Network())
        model = paddle.Model(Network(), INPUTS, LABELS)
        with pytest.raises(AssertError, match="Model is not ready"):
            model.predict_batch([Points(3).x])
        model.prepare()
        with pytest.raises(AssertError, match=r"inputs \(2\) does not match .* \(1\)"):
            model.predict_batch([Points(3).x, Points(3).x])


def test_a_model_knows_its_layers(capsys):
    model = paddle.Model(Network(), INPUTS)
    assert model.summary() == {"total_params": 115, "trainable_params": 99}
    assert "Linear-1" in capsys.readouterr().out
    assert len(model.parameters()) == 8


def test_what_several_processes_need_can_be_imported_and_says_why_it_is_not_there():
    with pytest.raises(UnsupportedError, match="processes do not train together"):
        model_module._all_gather(paddle.ones([1]))
