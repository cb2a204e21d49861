"""Decoding step by step: the most likely sequences found by following a few at a time."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scull.core.dtype import int64
from scull.errors import ArgumentError, UnsupportedError
from scull.nn.functional.activation import log_softmax
from scull.ops.create import cast, fill_constant
from scull.ops.elementwise import add
from scull.ops.join import stack
from scull.ops.like import broadcast_like
from scull.ops.logic import logical_not, logical_or
from scull.ops.move import reshape, transpose
from scull.ops.pick import take_along_axis
from scull.ops.sequence import gather_tree
from scull.tensor.creation import full, to_tensor
from scull.tensor.search import topk, where
from scull.tensor.size import is_static

UNLIKELY = -1e9


def mapped(function: Any, *structures: Any) -> Any:
    """`function` of the tensors that stand at the same place in nested lists, tuples and dicts."""
    first = structures[0]
    if isinstance(first, dict):
        return {key: mapped(function, *[s[key] for s in structures]) for key in first}
    if isinstance(first, list | tuple):
        parts = [mapped(function, *each) for each in zip(*structures, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return function(*structures)


class Decoder:
    """What `dynamic_decode` asks, step by step; classes of your own implement it."""

    def initialize(self, inits: Any) -> Any:
        """The inputs and states of the first step, and which sequences are finished."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """The outputs of a step, the next states and inputs, and what is finished then."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> Any:
        """The results made of the outputs of all steps: as they are, unless overridden."""
        return outputs, final_states

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` knows what was finished before."""
        return False


class OutputWrapper(NamedTuple):
    """What a step found: scores, tokens, and from which beam each came."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class StateWrapper(NamedTuple):
    """What the next step needs: of each beam the cell's states and how it stands."""

    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


class BeamSearchDecoder(Decoder):
    """Follows the `beam_size` most likely sequences of each row at once.

    Args:
        cell (Layer): from inputs and states to outputs and states, such as a GRUCell.
        start_token (int): what every sequence begins with.
        end_token (int): what ends it.
        beam_size (int): how many are followed.
        embedding_fn (Callable, optional): from tokens to inputs of the cell.
        output_fn (Callable, optional): from outputs of the cell to a score for each token.

    Examples:
        >>> import scull as paddle
        >>> cell, table = paddle.nn.GRUCell(4, 4), paddle.nn.Embedding(6, 4)
        >>> scores = paddle.nn.Linear(4, 6)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, 3, table, scores)
        >>> tokens, _ = paddle.nn.dynamic_decode(decoder, paddle.zeros([2, 4]), 5)
        >>> tokens.shape[0], tokens.shape[2]
        (2, 3)
    """

    OutputWrapper, StateWrapper = OutputWrapper, StateWrapper

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Any = None,
        output_fn: Any = None,
    ) -> None:
        if beam_size < 1:
            raise ArgumentError(f"beam_size is {beam_size}; at least 1 is needed")
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: int) -> Any:
        """Each row of `x` as often as there are beams: of shape ``[batch * beams, ...]``.

        Args:
            x (Tensor): of shape ``[batch, ...]``.
            beam_size (int): how many beams there are.

        Examples:
            >>> import scull as paddle
            >>> x = paddle.to_tensor([1.0, 2.0])
            >>> paddle.nn.BeamSearchDecoder.tile_beam_merge_with_batch(x, 2).tolist()
            [1.0, 1.0, 2.0, 2.0]
        """
        return x.repeat_interleave(beam_size, 0)

    def _split(self, x: Any) -> Any:
        return reshape(x, shape=(-1, self.beam_size, *x.shape[1:]))

    def _merge(self, x: Any) -> Any:
        return reshape(x, shape=(-1, *x.shape[2:]))

    def initialize(self, initial_cell_states: Any) -> Any:
        """The inputs and states of the first step: one beam of each row is likely."""

        def spread(x: Any) -> Any:
            return self._split(self.tile_beam_merge_with_batch(x, self.beam_size))

        cell_states = mapped(spread, initial_cell_states)
        found: list[Any] = []
        mapped(found.append, cell_states)
        shape = [found[0].shape[0], self.beam_size]
        tokens = full(shape, self.start_token, "int64")
        likely = np.full(shape, UNLIKELY, found[0].dtype.name)
        likely[:, 0] = 0
        finished = full(shape, False, "bool")
        lengths = full(shape, 0, "int64")
        inputs = self.embedding_fn(tokens) if self.embedding_fn else tokens
        states = StateWrapper(cell_states, to_tensor(likely), finished, lengths)
        return inputs, states, finished

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """The beams that are the most likely ones after one token more."""
        merged = mapped(self._merge, inputs), mapped(self._merge, states.cell_states)
        outputs, cell_states = self.cell(*merged, **kwargs)
        outputs, cell_states = mapped(self._split, outputs), mapped(self._split, cell_states)
        scores = self.output_fn(outputs) if self.output_fn else outputs
        output, state = self._best(scores, cell_states, states)
        tokens = output.predicted_ids
        tokens.stop_gradient = True
        inputs = self.embedding_fn(tokens) if self.embedding_fn else tokens
        return output, state, inputs, state.finished

    def _best(self, logits: Any, cell_states: Any, states: Any) -> Any:
        """The best of all beams with all tokens behind them."""
        classes, beams = logits.shape[-1], self.beam_size
        ended = np.full(classes, UNLIKELY, logits.dtype.name)
        ended[self.end_token] = 0
        steps = where(states.finished.unsqueeze(2), to_tensor(ended), log_softmax(logits))
        total = reshape(add(steps, states.log_probs.unsqueeze(2)), shape=(-1, beams * classes))
        scores, places = topk(total, beams)
        parents, tokens = places // classes, places % classes

        def chosen(x: Any) -> Any:
            index = reshape(parents, shape=(*parents.shape, *[1] * (len(x.shape) - 2)))
            return take_along_axis(x, broadcast_like(index, x), axis=1)

        finished, lengths = chosen(states.finished), chosen(states.lengths)
        lengths = add(lengths, cast(logical_not(finished), out_dtype=int64))
        finished = logical_or(finished, tokens == self.end_token)
        state = StateWrapper(mapped(chosen, cell_states), scores, finished, lengths)
        return OutputWrapper(scores, tokens, parents), state

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> Any:
        """The tokens of the last beams, traced back to the first step."""
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, and what is finished with them."""
        return True


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Call `decoder` step by step until all sequences are finished.

    Only in eager mode: a Program has no loops here.

    Args:
        decoder (Decoder): what is called.
        inits (optional): what its `initialize` is given.
        max_step_num (int, optional): the number of the last step, counted from 0.
        output_time_major (bool): whether results are ``[time, batch, ...]``, not batch first.
        impute_finished (bool): whether what is finished keeps its states.
        is_test (bool): not used.
        return_length (bool): whether the lengths are returned too.
        kwargs: given on to each step.

    Returns:
        tuple: the outputs of all steps and the last states; the lengths if asked for.

    Examples:
        >>> import scull as paddle
        >>> cell = paddle.nn.SimpleRNNCell(3, 3)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, 2, paddle.nn.Embedding(3, 3))
        >>> tokens, states = paddle.nn.dynamic_decode(decoder, paddle.zeros([4, 3]), 2)
        >>> states.lengths.shape
        [4, 2]
    """
    if is_static():
        raise UnsupportedError("dynamic_decode runs in eager mode only: Programs have no loops")
    inputs, states, finished = decoder.initialize(inits)
    lengths = full(finished.shape, 0, "int64")
    steps: list[Any] = []
    while not finished.array.all():
        time = fill_constant(shape=(1,), value=len(steps), dtype=int64)
        output, new, inputs, done = decoder.step(time, inputs, states, **kwargs)
        if decoder.tracks_own_finished:
            lengths = getattr(new, "lengths", lengths)
        else:
            done = logical_or(done, finished)
            lengths = add(lengths, cast(logical_not(finished), out_dtype=int64))
            new = mapped(partial(kept, done), states, new) if impute_finished else new
        steps.append(output)
        states, finished = new, done
        if max_step_num is not None and len(steps) > max_step_num:
            break
    outputs = mapped(lambda *x: stack(list(x), axis=0), *steps)
    outputs, states = decoder.finalize(outputs, states, lengths)
    if not output_time_major:
        outputs = mapped(batch_first, outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


def kept(finished: Any, old: Any, new: Any) -> Any:
    """`old` where a sequence is finished, else `new`."""
    return where(reshape(finished, shape=(-1, *[1] * (len(new.shape) - 1))), old, new)


def batch_first(x: Any) -> Any:
    """`x` with its first two axes exchanged."""
    return transpose(x, perm=(1, 0, *range(2, len(x.shape))))
