"""A network with what it takes to train it, test it and let it predict."""

import inspect
import os
import warnings
from typing import Any

import numpy as np

from scull.autograd import no_grad
from scull.core import session
from scull.core.absent import absent
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.hapi.callbacks import EarlyStopping, config_callbacks
from scull.hapi.eager_step import EagerStep, listed
from scull.hapi.loop import Pass, batch_sizes, loader_of, steps_of
from scull.hapi.model_summary import summary
from scull.hapi.precision import precision_of
from scull.hapi.program_step import ProgramStep
from scull.hapi.state import PARAMETERS, SCALER, STATES, load_states, matched, save_states
from scull.ir.mode import in_dynamic_mode
from scull.metric import Metric
from scull.static.input import InputSpec

__getattr__ = absent(__name__, {"processes do not train together": "_all_gather"})


class Model:
    """A network that is trained, tested and asked by one call each.

    In static mode it records a Program for each of the three, by `inputs` and `labels`.

    Args:
        network (Layer): the network.
        inputs (InputSpec | list | tuple | dict, optional): shape, dtype and name of each input;
            needed in static mode, and to save an inference model that was never run.
        labels (InputSpec | list | tuple, optional): the same of each label.

    Raises:
        ArgumentTypeError: there are no inputs, in static mode.
        ArgumentError: an InputSpec without a name.

    Examples:
        >>> import scull as paddle
        >>> network = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(64, 10))
        >>> model = paddle.Model(network)
        >>> model.prepare(
        ...     paddle.optimizer.Adam(0.01, parameters=model.parameters()),
        ...     paddle.nn.CrossEntropyLoss(),
        ...     paddle.metric.Accuracy(),
        ... )
        >>> digits = paddle.vision.Digits
        >>> model.fit(digits("train"), epochs=3, batch_size=64, verbose=0)
        >>> model.evaluate(digits("test"), batch_size=64, verbose=0)["acc"] > 0.8
        True
        >>> [scores] = model.predict(digits("test"), batch_size=64, stack_outputs=True, verbose=0)
        >>> scores.shape
        (360, 10)
    """

    def __init__(self, network: Any, inputs: Any = None, labels: Any = None) -> None:
        self.mode, self.network, self.stop_training = "train", network, False
        self._loss: Any = None
        self._optimizer: Any = None
        self._metrics: list[Metric] = []
        self._place = session.place()
        if not in_dynamic_mode() and not isinstance(inputs, list | tuple | dict | InputSpec):
            raise ArgumentTypeError(
                "'inputs' must be list or tuple or dict, and couldn't be None, in static mode."
            )
        self._inputs, self._labels = self._specs(inputs), checked(labels)
        self._input_info: Any = self._inputs if inputs is not None else None
        self._is_shape_inferred = False
        self._step: Any = EagerStep(self) if in_dynamic_mode() else ProgramStep(self)

    def _specs(self, inputs: Any) -> list[InputSpec]:
        names = list(inspect.signature(self.network.forward).parameters)
        if inputs is None:
            return [InputSpec([None], name=name) for name in names]
        if isinstance(inputs, dict):
            return checked([inputs[name] for name in names if name in inputs])
        return checked(inputs)

    def _infer_inputs(self, specs: list[InputSpec]) -> None:
        """Let the first inputs tell what they are where the user did not."""
        if self._input_info is None:
            for spec, own in zip(specs, self._inputs, strict=False):
                spec.name = own.name
            self._inputs = self._input_info = specs
            self._is_shape_inferred = True

    def prepare(
        self,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        amp_configs: Any = None,
    ) -> None:
        """Say how to train and what to measure.

        Args:
            optimizer (Optimizer, optional): what updates the parameters; to test and to predict
                none is needed.
            loss (Layer | Callable, optional): from the outputs of the network and the labels to one
                loss or a list of them, whose sum is made smaller.
            metrics (Metric | list[Metric], optional): what is measured.
            amp_configs (str | dict, optional): mixed precision: a level, ``"O1"`` or ``"O2"``, or
                a dictionary of `level`, the lists of `amp.auto_cast` and the options of
                `amp.GradScaler`.

        Raises:
            ArgumentTypeError: the loss cannot be called.
            ArgumentError: a level or an option of mixed precision that there is not.
            AssertError: a metric is none.
        """
        if loss is not None and not callable(loss):
            raise ArgumentTypeError(
                "'loss' must be sub classes of `paddle.nn.Layer` or any callable function."
            )
        for metric in listed(metrics):
            if not isinstance(metric, Metric):
                raise AssertError(f"{type(metric).__name__} is not sub class of Metric")
        precision = precision_of(amp_configs, optimizer)
        self._place = session.place()
        self._optimizer, self._loss, self._metrics = optimizer, loss, listed(metrics)
        self._step.prepare(precision)

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Learn from one batch.

        Args:
            inputs (numpy.ndarray | Tensor | list): what the network gets.
            labels (numpy.ndarray | Tensor | list, optional): what the loss and the metrics get
                after the outputs.
            update (bool, optional): False: only gather gradients, in eager mode.

        Returns:
            list | tuple: a list of losses as arrays; with metrics that list and a list of what
            each metric is after this batch.

        Raises:
            AssertError: there is no optimizer or no loss yet.

        Examples:
            >>> import scull as paddle
            >>> model = paddle.Model(paddle.nn.Linear(3, 2))
            >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
            >>> model.prepare(optimizer, paddle.nn.MSELoss())
            >>> [loss] = model.train_batch(paddle.ones([4, 3]), paddle.ones([4, 2]))
            >>> loss.shape
            ()
        """
        self._refuse_unprepared()
        self.mode = "train"
        return self._step.train_batch(inputs, labels, update)

    def _refuse_unprepared(self) -> None:
        if self._optimizer is None or self._loss is None:
            raise AssertError(
                "model not ready, please call `model.prepare()` with an optimizer and a loss first"
            )

    @no_grad()
    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Test with one batch.

        Args:
            inputs (numpy.ndarray | Tensor | list): what the network gets.
            labels (numpy.ndarray | Tensor | list, optional): what the loss and the metrics get
                after the outputs.

        Returns:
            list | tuple: losses, metrics or both, as `train_batch`.
        """
        self.mode = "eval"
        return self._step.eval_batch(inputs, labels)

    @no_grad()
    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """What the network gives for one batch.

        Args:
            inputs (numpy.ndarray | Tensor | list): what the network gets.

        Returns:
            list[numpy.ndarray]: each output.
        """
        self.mode = "test"
        return self._step.predict_batch(inputs)

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: Any = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: Any = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Learn from all batches, some times.

        A sample is the inputs, then the labels. After Ctrl-C or an error in a batch the Model can
        be used as before: its parameters are those of the last update.

        Args:
            train_data (Dataset | DataLoader | iterable): samples, or batches of them.
            eval_data (Dataset | DataLoader | iterable, optional): what to test with.
            batch_size (int | list, optional): for Datasets; two sizes are those of training and
                of testing.
            epochs (int, optional): how many times.
            eval_freq (int, optional): how many epochs from one test to the next.
            log_freq (int, optional): how many batches from one line of output to the next.
            save_dir (str, optional): the folder to save to after epochs and at the end.
            save_freq (int, optional): how many epochs from one time to the next.
            verbose (int, optional): 0: nothing is printed; 1: a bar; 2: lines; 3: and times.
            drop_last (bool, optional): leave out a last batch that is smaller, of a Dataset.
            shuffle (bool, optional): the samples of a Dataset in random order.
            num_workers (int, optional): processes that make the batches of Datasets.
            callbacks (Callback | list, optional): what to call; a `ProgBarLogger`, a
                `ModelCheckpoint` and an `LRScheduler` are added to them.
            accumulate_grad_batches (int, optional): how many batches each update sums the
                gradients of; 1 in static mode.
            num_iters (int, optional): end after so many batches, whatever `epochs` says.

        Raises:
            AssertError: no data, or no optimizer and loss.
            ArgumentError: the data has no batch.
        """
        if train_data is None:
            raise AssertError("train_data must be given!")
        train_size, eval_size = batch_sizes(batch_size)
        loader = loader_of(
            train_data, self._place, train_size, num_workers, shuffle=shuffle, drop_last=drop_last
        )
        tests = loader_of(eval_data, self._place, eval_size, num_workers)
        steps = steps_of(loader)
        if num_iters is not None:
            positive(num_iters)
            epochs = num_iters if steps is None else (num_iters - 1) // steps + 1
            steps = None if steps is None else min(num_iters, steps)
        self._refuse_unprepared()
        told = config_callbacks(
            callbacks,
            model=self,
            epochs=epochs,
            steps=steps,
            log_freq=log_freq,
            save_freq=save_freq,
            save_dir=save_dir,
            verbose=verbose,
            metrics=self._metrics_name(),
        )
        if tests is None and any(isinstance(callback, EarlyStopping) for callback in told):
            warnings.warn("EarlyStopping needs validation data.", stacklevel=2)
        self._train(loader, tests, told, epochs, eval_freq, accumulate_grad_batches, num_iters)

    def _train(
        self,
        loader: Any,
        tests: Any,
        told: Any,
        epochs: int,
        eval_freq: int,
        accumulate: int,
        left: int | None,
    ) -> None:
        self.stop_training, logs = False, None
        told.on_begin("train")
        for epoch in range(epochs):
            told.on_epoch_begin(epoch)
            done = Pass(self, loader, told, "train", left).run(accumulate)
            logs = done.logs
            told.on_epoch_end(epoch, logs)
            if tests is not None and epoch % eval_freq == 0:
                self._test(tests, told, None)
            left = None if left is None else left - done.steps
            if left == 0:
                self.stop_training = True
            if self.stop_training:
                break
        told.on_end("train", logs)

    def _test(self, loader: Any, told: Any, limit: int | None) -> dict[str, Any]:
        steps = steps_of(loader)
        if limit is not None and steps is not None:
            steps = min(limit, steps)
        told.on_begin("eval", {"steps": steps, "metrics": self._metrics_name()})
        logs = Pass(self, loader, told, "eval", limit).run().logs
        told.on_end("eval", logs)
        return logs

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """Test with all batches.

        Args:
            eval_data (Dataset | DataLoader | iterable): samples, or batches of them.
            batch_size (int, optional): for a Dataset.
            log_freq (int, optional): how many batches from one line of output to the next.
            verbose (int, optional): 0: nothing is printed; 1: a bar; 2: lines; 3: and times.
            num_workers (int, optional): processes that make the batches of a Dataset.
            callbacks (Callback | list, optional): what to call.
            num_iters (int, optional): end after so many batches.

        Returns:
            dict: under `loss` a list of the losses of the last batch, and each metric of all
            batches under its name.
        """
        loader = loader_of(eval_data, self._place, batch_sizes(batch_size)[1], num_workers)
        if num_iters is not None:
            positive(num_iters)
        told = config_callbacks(
            callbacks, model=self, log_freq=log_freq, verbose=verbose, metrics=self._metrics_name()
        )
        logs = self._test(loader, told, num_iters)
        return {name: logs[name] for name in self._metrics_name()}

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """What the network gives for all batches.

        Args:
            test_data (Dataset | DataLoader | iterable): samples, or batches of them; what follows
                the inputs is not used.
            batch_size (int, optional): for a Dataset.
            num_workers (int, optional): processes that make the batches of a Dataset.
            stack_outputs (bool, optional): the batches of each output in one array.
            verbose (int, optional): 0: nothing is printed; 1: a bar; 2: lines; 3: and times.
            callbacks (Callback | list, optional): what to call.

        Returns:
            list: for each output a tuple with an array for each batch, or an array.
        """
        loader = loader_of(test_data, self._place, batch_sizes(batch_size)[1], num_workers)
        told = config_callbacks(callbacks, model=self, verbose=verbose)
        logs = {"steps": steps_of(loader)}
        told.on_begin("predict", logs)
        done = Pass(self, loader, told, "predict", None).run()
        outputs: list[Any] = list(zip(*done.outputs, strict=True))
        if stack_outputs:
            outputs = [np.vstack(batches) for batches in outputs]
        told.on_end("predict", done.logs)
        return outputs

    def save(self, path: str, training: bool = True) -> None:
        """Write parameters (`.pdparams`) and the state of the optimizer (`.pdopt`), or a model.

        What is written takes the place of what was there all at once.

        Args:
            path (str): folder and name, without suffix; the folder is made.
            training (bool, optional): False: write what predictions take, a `.pdmodel` and a
                `.pdiparams`, which `jit.load` and predictors read.

        Raises:
            AssertError: there is no name.
            RunError: to predict, and neither `inputs` were given nor has a batch been run.

        Examples:
            >>> import os, tempfile
            >>> import scull as paddle
            >>> model = paddle.Model(paddle.nn.Linear(3, 2))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     model.save(os.path.join(folder, "linear"))
            ...     model.load(os.path.join(folder, "linear"))
            ...     [name for name in os.listdir(folder) if not name.startswith(".")]
            ['linear.pdparams']
        """
        if os.path.basename(path) == "":
            raise AssertError("path should be of 'dirname/filename' format")
        if training:
            save_states(path, self._step.states())
            return
        if self._is_shape_inferred:
            warnings.warn(
                "'inputs' was not specified when Model initialization, so the input shape to be "
                "saved will be the shape derived from the user's actual inputs. The input shape to "
                f"be saved is {[list(spec.shape) for spec in self._inputs]}. For saving correct "
                "input shapes, please provide 'inputs' for Model initialization.",
                stacklevel=2,
            )
        self._step.save_inference_model(path)

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Take over what `save` wrote, in this mode or the other, here or in Paddle.

        Args:
            path (str): folder and name, with or without suffix.
            skip_mismatch (bool, optional): leave out, with a warning, the parameters that the file
                lacks or has in another shape; the optimizer starts anew then.
            reset_optimizer (bool, optional): leave the state of the optimizer as it is.

        Raises:
            AssertError: there is no such file.
            ArgumentError: a parameter is missing, or has another shape.
            FileError: a file is damaged.
        """
        found = load_states(path)
        own = self.network.state_dict()
        pairs = matched(own, found[PARAMETERS], skip_mismatch)
        reset = reset_optimizer or len(pairs) < len(own)
        self._step.load(pairs, None if reset else found.get(STATES), found.get(SCALER))

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network, as `Layer.parameters` gives them."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, Any]:
        """Print a table of the layers of the network, as `paddle.summary`.

        Args:
            input_size (tuple | InputSpec | list, optional): the shape of each input; those of
                `inputs` when None.
            dtype (str, optional): the element type of the inputs.

        Returns:
            dict: `total_params` and `trainable_params`.
        """
        return summary(
            self.network, self._inputs if input_size is None else input_size, dtypes=dtype
        )

    def _metrics_name(self) -> list[str]:
        names = [] if self._loss is None else ["loss"]
        return names + [name for metric in self._metrics for name in listed(metric.name())]


def checked(specs: Any) -> list[InputSpec]:
    """A list of InputSpecs with names."""
    found = listed(specs)
    for i, spec in enumerate(found):
        if not isinstance(spec, InputSpec):
            raise AssertError(f"Input[{i}] is an InputSpec, not {type(spec).__name__}")
        if spec.name is None:
            raise ArgumentError(
                f"Requires Input[{i}].name != None, but receive `None` with {spec}."
            )
    return found


def positive(num_iters: int) -> None:
    """Refuse to do nothing."""
    if num_iters <= 0:
        raise AssertError("num_iters must be greater than 0!")
