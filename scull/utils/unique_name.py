"""Names that nobody else has: `fc_0`, `fc_1`, ..."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core import session
from scull.core.session import Names as UniqueNameGenerator


def generate(key: str) -> str:
    """`key` and the next number.

    Args:
        key (str): what the name begins with.

    Examples:
        >>> import scull as paddle
        >>> with paddle.utils.unique_name.guard():
        ...     paddle.utils.unique_name.generate("fc")
        'fc_0'
    """
    return session.unique_name(key)


generate_with_ignorable_key = generate


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> Any:
    """Number with `new_generator`, or afresh, from here on.

    Args:
        new_generator (UniqueNameGenerator, optional): what `switch` returned before.

    Returns:
        UniqueNameGenerator: what numbered until now.
    """
    before = session.get("names")
    session.put("names", UniqueNameGenerator() if new_generator is None else new_generator)
    return before


@contextmanager
def guard(new_generator: Any = None) -> Iterator[None]:
    """Names are numbered afresh within the block.

    Args:
        new_generator (str | UniqueNameGenerator, optional): what all names begin with, or what
            numbers them.

    Examples:
        >>> import scull as paddle
        >>> with paddle.utils.unique_name.guard("a_"):
        ...     paddle.utils.unique_name.generate("fc")
        'a_fc_0'
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if not isinstance(new_generator, UniqueNameGenerator):
        new_generator = UniqueNameGenerator(new_generator or "")
    with session.guarded(names=new_generator):
        yield


__all__ = ["UniqueNameGenerator", "generate", "generate_with_ignorable_key", "guard", "switch"]
