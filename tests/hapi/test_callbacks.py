"""Callbacks are called in order, stop, slow down, save and show training as Paddle's do."""

import doctest
import sys
from types import ModuleType

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.hapi import callback, monitor, progressbar
from scull.hapi.callbacks import CallbackList, config_callbacks
from scull.hapi.progressbar import ProgressBar, duration, number
from tests.hapi.fresh import fresh

BATCH = (np.ones([4, 8], "float32"), np.zeros([4, 1], "float32"))


def learning(rate=0.0, loss=None):
    model = paddle.Model(
        paddle.nn.Linear(8, 1),
        [paddle.static.InputSpec([None, 8], "float32", "x")],
        [paddle.static.InputSpec([None, 1], "float32", "y")],
    )
    optimizer = paddle.optimizer.SGD(rate, parameters=model.parameters())
    model.prepare(optimizer, loss or paddle.nn.MSELoss())
    return model


@pytest.mark.parametrize("module", [callback, monitor, progressbar])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


def test_callbacks_hear_of_everything_in_order():
    heard = []

    class All(paddle.callbacks.Callback):
        def __getattribute__(self, name):
            if name.startswith("on_"):
                heard.append(name.removeprefix("on_"))
            return super().__getattribute__(name)

    model = learning()
    model.fit([BATCH], [BATCH], verbose=0, callbacks=[All()])
    assert heard == [
        "train_begin",
        "epoch_begin",
        "train_batch_begin",
        "train_batch_end",
        "epoch_end",
        "eval_begin",
        "eval_batch_begin",
        "eval_batch_end",
        "eval_end",
        "train_end",
    ]
    heard.clear()
    model.predict([BATCH], verbose=0, callbacks=[All()])
    assert heard == ["predict_begin", "predict_batch_begin", "predict_batch_end", "predict_end"]


def test_a_model_has_a_logger_a_checkpoint_and_a_schedule():
    kinds = [type(made).__name__ for made in config_callbacks()]
    assert kinds == ["ProgBarLogger", "ModelCheckpoint", "LRScheduler"]
    own = paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)
    kinds = [type(made).__name__ for made in config_callbacks(own, verbose=0)]
    assert kinds == ["LRScheduler", "ModelCheckpoint"]
    with pytest.raises(AssertError, match="train, eval or predict, not 'test'"):
        CallbackList([own]).on_begin("test")
    with pytest.raises(ArgumentError, match="mutually exclusive"):
        paddle.callbacks.LRScheduler(True, True)


@pytest.mark.parametrize(("by_epoch", "steps"), [(False, 6), (True, 2)])
def test_a_schedule_advances_by_batch_or_by_epoch(by_epoch, steps):
    schedule = paddle.optimizer.lr.ExponentialDecay(1.0, 0.5)
    told = paddle.callbacks.LRScheduler(by_step=not by_epoch, by_epoch=by_epoch)
    learning(schedule).fit([BATCH] * 3, epochs=2, verbose=0, callbacks=told)
    assert schedule() == 0.5**steps


def test_the_best_model_is_saved_and_training_stops(tmp_path, capsys):
    class Losses(paddle.nn.Layer):
        values = iter([5.0, 3.0, 4.0, 2.95, 3.5, 1.0])

        def forward(self, scores, label):
            return paddle.mean(scores) * 0 + (next(self.values) if not self.training else 0.0)

    loss = Losses()
    model = learning(loss=lambda scores, label: loss(scores, label))
    stopping = paddle.callbacks.EarlyStopping("loss", patience=2, min_delta=0.1)

    class Switch(paddle.callbacks.Callback):
        def on_eval_begin(self, logs=None):
            loss.eval()

        def on_eval_end(self, logs=None):
            loss.train()

    folder = str(tmp_path / "saved")
    model.fit(
        [BATCH], [BATCH], epochs=9, verbose=0, callbacks=[stopping, Switch()], save_dir=folder
    )
    out = capsys.readouterr().out
    assert "Epoch 4: Early stopping.\nBest checkpoint has been saved at " in out
    assert stopping.best_value == 3.0 and model.stop_training
    assert (tmp_path / "saved" / "best_model.pdparams").exists()
    assert not (tmp_path / "saved" / "4.pdparams").exists()


def test_a_monitor_that_is_not_measured_is_told():
    model = learning()
    for kind in (paddle.callbacks.EarlyStopping, paddle.callbacks.ReduceLROnPlateau):
        with pytest.warns(UserWarning, match=f"Monitor of {kind.__name__} should be loss or"):
            model.fit([BATCH], [BATCH], verbose=0, callbacks=kind("acc"))
        with pytest.warns(UserWarning, match=f"{kind.__name__} mode least is unknown"):
            kind(mode="least")
    with pytest.warns(UserWarning, match="needs validation data"):
        model.fit([BATCH], verbose=0, callbacks=paddle.callbacks.EarlyStopping())
    with pytest.raises(ArgumentError, match="does not support a factor"):
        paddle.callbacks.ReduceLROnPlateau(factor=1.0)
    schedule = paddle.optimizer.lr.ExponentialDecay(1.0, 0.5)
    with pytest.warns(UserWarning, match="a scheduler decides"):
        slower = paddle.callbacks.ReduceLROnPlateau()
        learning(schedule).fit([BATCH], [BATCH], verbose=0, callbacks=slower)


@pytest.mark.parametrize("static", [False, True])
def test_the_learning_rate_is_reduced_to_its_least_and_rests(static, capsys):
    with fresh(static):
        model = learning(1e-8)
        slower = paddle.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, cooldown=2, min_lr=3e-9)
        model.fit([BATCH], [BATCH], epochs=9, verbose=0, callbacks=slower)
        if static:
            program = model._step.programs["train"].program
            cell = paddle.static.global_scope().find_var(
                model._optimizer._global_learning_rate(program).name
            )
            assert np.isclose(np.asarray(cell.get_tensor()), 3e-9)
    assert model._optimizer.get_lr() == 3e-9
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert [line.partition(":")[0] for line in lines] == ["Epoch 2", "Epoch 4"]


def test_a_bar_moves_in_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    bar = ProgressBar(20, verbose=1)
    bar.update(10, [("loss", [0.25, np.float32(1e-5)]), ("n", 3)])
    out = capsys.readouterr().out
    assert out.startswith(
        "step 10/20 [=========>..........] - loss: 0.2500 1.0000e-05 - n: 3 - ETA"
    )
    assert out.endswith("/step\n") and "\r" not in out

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    bar = ProgressBar(2, verbose=1)
    bar.update(1)
    first = capsys.readouterr().out
    assert first.startswith("\rstep 1/2 [=========>..........]") and "\n" not in first
    bar.leave()
    assert capsys.readouterr().out == "\n"
    bar.update(2)
    assert capsys.readouterr().out.endswith("/step\n")
    assert "\x1b" not in first  # no colours, whatever NO_COLOR says


def test_a_count_without_an_end_is_shown(capsys):
    ProgressBar(None, verbose=2).update(7)
    ProgressBar(None, verbose=0).update(7)
    assert capsys.readouterr().out.startswith("step   7 - ")
    assert [duration(s) for s in (9.5, 70, 3700)] == ["9s", "1:10", "1:01:40"]
    assert [number(v) for v in (0.5, 0.0, 2, np.array([0.25]))] == [
        "0.5000",
        "0.0000e+00",
        "2",
        "0.2500",
    ]
    with pytest.raises(ArgumentTypeError, match="None or integer"):
        ProgressBar(0)


def test_what_draws_says_which_library_it_lacks():
    with pytest.raises(ImportError, match="pip install visualdl"):
        paddle.callbacks.VisualDL("logs")
    with pytest.raises(ImportError, match="pip install wandb"):
        paddle.callbacks.WandbCallback()


def test_numbers_are_handed_to_the_library_that_draws(monkeypatch):
    written = []

    class LogWriter:
        def __init__(self, folder):
            written.append(folder)

        def add_scalar(self, tag, step, value):
            written.append((tag, step))

        def close(self):
            written.append("closed")

    library = ModuleType("visualdl")
    library.LogWriter = LogWriter
    monkeypatch.setitem(sys.modules, "visualdl", library)
    drawn = paddle.callbacks.VisualDL("logs")
    learning().fit([BATCH] * 2, [BATCH], epochs=2, verbose=0, callbacks=drawn)
    train, test = [("train/loss", n) for n in (1, 2, 3, 4)], [("eval/loss", n) for n in (0, 1)]
    assert written == ["logs", *train[:2], test[0], *train[2:], test[1], "closed"]


def test_numbers_are_sent_to_the_run(monkeypatch):
    class Run:
        def __init__(self):
            self.sent, self.over = [], False

        def define_metric(self, name, step_metric=None):
            self.sent.append(name)

        def log(self, values):
            self.sent.append(sorted(values))

        def finish(self):
            self.over = True

    runs = []
    library = ModuleType("wandb")
    library.run = None
    library.init = lambda **options: runs.append((Run(), options)) or runs[-1][0]
    monkeypatch.setitem(sys.modules, "wandb", library)
    sent = paddle.callbacks.WandbCallback(project="digits", tags=["a"])
    learning().fit([BATCH], [BATCH], verbose=0, callbacks=sent)
    [(run, options)] = runs
    assert options["project"] == "digits" and options["tags"] == ["a"] and run.over
    assert run.sent[-2:] == [["train/loss", "train/step"], ["epoch", "eval/loss"]]
