"""Names that nobody else has: `fc_0`, `fc_1`, ..."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core import session
from scull.core.session import Names as UniqueNameGenerator


class DygraphParameterNameChecker:
    """Whether a parameter of eager mode has a name already; who asks takes the name."""

    def __init__(self, taken: set[str] | None = None) -> None:
        self.taken = set() if taken is None else taken

    def __call__(self, name: str) -> bool:
        """Whether `name` was taken.

        Args:
            name (str): the name of a parameter.
        """
        before = len(self.taken)
        self.taken.add(name)
        return len(self.taken) == before


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


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> tuple[Any, Any]:
    """Number with `new_generator`, or afresh, from here on.

    Args:
        new_generator (UniqueNameGenerator, optional): what `switch` returned before.
        new_para_name_checker (DygraphParameterNameChecker, optional): what it returned beside it.

    Returns:
        tuple: what numbered until now, and what knows the names of parameters until now.

    Examples:
        >>> import scull as paddle
        >>> names, taken = paddle.utils.unique_name.switch()
        >>> paddle.utils.unique_name.generate("fc")
        'fc_0'
        >>> _ = paddle.utils.unique_name.switch(names, taken)
    """
    before = session.get("names")
    checker = DygraphParameterNameChecker(before.taken)
    after = UniqueNameGenerator() if new_generator is None else new_generator
    after.taken = set() if new_para_name_checker is None else new_para_name_checker.taken
    session.put("names", after)
    return before, checker


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
