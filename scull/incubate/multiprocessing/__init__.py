"""Python's `multiprocessing`, whose queues and processes share the memory of Tensors.

    import scull.incubate.multiprocessing as mp

A Tensor that goes to another process has its elements in memory of both from then on: what one
writes in place the other sees. What sent it lives until it arrived.
"""

from multiprocessing import *  # noqa: F403  it is this module that users call

from scull.incubate.multiprocessing.reductions import init_reductions

__all__: list[str] = []

init_reductions()
