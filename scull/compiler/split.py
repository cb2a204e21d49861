"""How the work of a kernel is cut into chunks, which threads may share.

Chunks are of a size that depends on the kernel alone, never on how many threads there are: each
element is computed by the same instructions wherever and whenever its chunk runs.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A group as the text of a function of its arrays' addresses and of chunks.

    The function is `void(ptr ..., i64 first, i64 last)`: it computes the chunks from `first` up to
    `last`, of 0 .. `chunks`, in any order and at the same time as others. With one chunk it is not
    looked at. What lies before a kernel is complete when it starts.
    """

    name: str
    text: str
    chunks: int = 1
