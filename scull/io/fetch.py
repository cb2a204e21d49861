"""Fetching: a callable from a task, the indices of a batch, to the batch."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from scull.io.dataset import is_iterable


@dataclass(frozen=True)
class Recipe:
    """How samples become a batch."""

    batched: bool  # a task is a list of indices; otherwise one index
    collate: Any
    drop_last: bool


def fetcher_of(dataset, recipe):
    """The function from a task to its batch; it raises StopIteration where the dataset ends."""
    if is_iterable(dataset):
        samples = iter(dataset)
        return lambda task: recipe.collate(_next(samples, task, recipe))
    if recipe.batched:
        return lambda task: recipe.collate([dataset[index] for index in task])
    return lambda task: recipe.collate(dataset[task])


def _next(samples, task, recipe):
    if not recipe.batched:
        return next(samples)
    found = list(islice(samples, len(task)))
    if not found or (recipe.drop_last and len(found) < len(task)):
        raise StopIteration
    return found
