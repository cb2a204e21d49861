"""One pass over a data set: a run of a Program for each batch."""

from datetime import datetime
from time import monotonic
from typing import Any

import numpy as np

from scull.errors import ArgumentError, AssertError, RunError
from scull.executor.fetch import listed


class FetchHandler:
    """What is called with values every so often during a pass over a data set.

    Args:
        var_dict (dict): variables by names of one's own.
        period_secs (float): how many seconds lie between two calls.
    """

    def __init__(self, var_dict: dict[str, Any] | None = None, period_secs: float = 60) -> None:
        if var_dict is None:
            raise AssertError("var_dict is None: it takes variables by name")
        self.var_dict, self.period_secs = var_dict, period_secs

    def handler(self, res_dict: dict[str, Any]) -> None:
        """Print the values; a subclass does what it likes.

        Args:
            res_dict (dict): arrays by the names of `var_dict`.
        """
        for name, value in res_dict.items():
            if type(value) is np.ndarray:
                print(f"{name}[0]: {value.reshape(-1)[0]} ", flush=True)


def pass_over(
    executor: Any,
    program: Any,
    dataset: Any,
    scope: Any,
    fetch_list: Any,
    fetch_info: Any,
    print_period: int,
    handler: FetchHandler | None,
) -> None:
    """Run `program` for each batch; values are printed and handed on now and then."""
    if dataset is None:
        raise RunError("dataset is None: give one, as paddle.distributed.QueueDataset makes it")
    if type(print_period) is not int or print_period < 1:
        raise ArgumentError(f"print_period is {print_period!r}, not a number of batches")
    fetches = listed(fetch_list)
    names = [name_of(v) for v in fetches] if fetch_info is None else list(fetch_info)
    if len(names) != len(fetches):
        raise AssertError(f"fetch_info has {len(names)} texts for {len(fetches)} of fetch_list")
    handed = {} if handler is None else handler.var_dict
    asked, last = [*fetches, *handed.values()], monotonic()
    for number, feed in enumerate(dataset.feeds(), 1):
        values = executor.run(program, feed, asked, scope=scope, return_numpy=False)
        if fetches and number % print_period == 0:
            print(told(number, names, values[: len(fetches)]), flush=True)
        if handler is not None and monotonic() - last >= handler.period_secs:
            arrays = map(np.asarray, values[len(fetches) :])
            handler.handler(dict(zip(handed, arrays, strict=True)))
            last = monotonic()


def name_of(fetched: Any) -> str:
    """How a value is called where it is printed."""
    return str(getattr(fetched, "name", fetched))


def told(number: int, names: list[str], values: list[Any]) -> str:
    """A line about a batch: when it was, and each value after its number of elements."""
    told = []
    for name, value in zip(names, values, strict=True):
        flat = np.asarray(value).reshape(-1)
        kind = "g" if flat.dtype.kind == "f" else ""
        told.append(f"{name}[{flat.size}]:[{' '.join(format(v, kind) for v in flat.tolist())}]")
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    return f"time: [{now}], batch: [{number}], {', '.join(told)}"
