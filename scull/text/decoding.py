"""The best paths of tags through sequences."""

from typing import Any

from scull.nn.layer.layers import Layer
from scull.ops import sequence
from scull.tensor.size import needs_tensor


def viterbi_decode(
    potentials: Any,
    transition_params: Any,
    lengths: Any,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> Any:
    """The highest scores of paths through tags, and these paths.

    Args:
        potentials (Tensor): float32 or float64 [batch, steps, tags]: the score of each tag.
        transition_params (Tensor): [tags, tags], of the same dtype: scores from tag to tag.
        lengths (Tensor): int64 [batch]: how many steps of each sequence count.
        include_bos_eos_tag (bool): whether the last row of `transition_params` scores the first
            tag of a sequence, and the row before it the last one.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple[Tensor, Tensor]: the scores [batch], and int64 tags [batch, the greatest length]; 0
        behind the end of a sequence.

    Raises:
        ShapeError: `transition_params` or `lengths` does not go with `potentials`.
        RangeError: a length is beyond the steps.

    Examples:
        >>> import scull as paddle
        >>> scores = paddle.to_tensor([[[0.1, 0.9], [0.8, 0.3]]])
        >>> steps = paddle.zeros([2, 2]), paddle.to_tensor([2])
        >>> paddle.text.viterbi_decode(scores, *steps, False)[1].tolist()
        [[1, 0]]
    """
    given = {"potentials": potentials, "transition_params": transition_params, "lengths": lengths}
    for parameter, value in given.items():
        needs_tensor(value, "viterbi_decode", parameter)
    return sequence.viterbi_decode(
        *given.values(), include_bos_eos_tag=bool(include_bos_eos_tag), name=name
    )


class ViterbiDecoder(Layer):
    """Finds the best paths of tags with scores from tag to tag that are given once.

    Args:
        transitions (Tensor): [tags, tags]: scores from tag to tag.
        include_bos_eos_tag (bool): whether its last two rows score the first and the last tag.
        name (str, optional): the name of the outputs in a Program.

    Examples:
        >>> import scull as paddle
        >>> decoder = paddle.text.ViterbiDecoder(paddle.zeros([2, 2]), include_bos_eos_tag=False)
        >>> decoder(paddle.to_tensor([[[0.1, 0.9], [0.8, 0.3]]]), paddle.to_tensor([2]))[1].tolist()
        [[1, 0]]
    """

    def __init__(
        self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None
    ) -> None:
        super().__init__()
        self.transitions, self.include_bos_eos_tag = transitions, include_bos_eos_tag
        self.name = name

    def forward(self, potentials: Any, lengths: Any) -> Any:
        """Scores and paths, as of `viterbi_decode`."""
        return viterbi_decode(
            potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name
        )
