"""`raise` where a Tensor decides: the Program stops with what would have been raised."""

import threading
import traceback
from typing import Any, NamedTuple

from scull.core.interpreter import current
from scull.core.refusal import is_ours
from scull.errors import UnsupportedError
from scull.ir.block import Block
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.python import assert_true
from scull.tensor.creation import full
from scull.tensor.logic import logical_not


class Stated(threading.local):
    """The exception that the user's own code raised last, and how many `try` are around."""

    def __init__(self) -> None:
        self.last: Any = None
        self.tries = 0


REFUSED = "__refused__"  # an attribute of errors that only recording raises
WORDS = (Variable.__name__, "known only when the Program runs")
stated = Stated()


class Raising(NamedTuple):
    """An exception of the user's own that a Program may come to: its text and its line there."""

    text: str
    line: str
    exception: Exception


class Alone(Exception):
    """A branch raises an exception of the user's own: where the other is not taken, that ends."""

    def __init__(self, side: int, exception: Exception, block: Block) -> None:
        super().__init__(side)
        self.side, self.exception, self.block = side, exception, block

    @property
    def speaks(self) -> bool:
        """Whether the branch does something before, that others see."""
        operators = [o for b in within(self.block) for o in b.ops]
        return any(set(o.op.effects) - {"random"} for o in operators)

    def stop(self, condition: Variable | None = None) -> None:
        """Record the end of the Program, unless `condition` is there and chooses the other side."""
        text = type(self.exception).__name__
        if str(self.exception):
            text += f": {self.exception}"
        if condition is None:
            goes_on = full([], False, "bool")
        else:
            goes_on = condition if self.side else logical_not(condition)
        assert_true(goes_on, [goes_on], message=text)
        operator = main_program().current_block().ops[-1]
        operator.line = line_of(self.exception) or operator.line
        mode: Any = current()
        if mode.captures:
            mode.raises.append(Raising(text, str(operator.line), self.exception))


def within(block: Block) -> list[Block]:
    """A block and those in it."""
    return [block, *(i for o in block.ops for b in o.blocks() for i in within(b))]


def line_of(error: Exception) -> str | None:
    """The file and the line of the user where an exception came up."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f for f in frames if not is_ours(f.filename)]
    return f"{lines[-1].filename}:{lines[-1].lineno}" if lines else None


def raising(exception: Any) -> Any:
    """What a statement of the user raises: an exception, or a kind of them."""
    if isinstance(exception, type) and issubclass(exception, BaseException):
        exception = exception()
    if not stated.tries:
        stated.last = exception
    return exception


def is_stated(error: Exception) -> bool:
    """Whether the user's own code raised `error`, and no `try` around may catch it."""
    return stated.last is error


class Unwinding(BaseException):
    """What cannot be recorded, on its way past the handlers of the user."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Trying:
    """Within, exceptions may be caught: what eager mode would not raise passes the handlers."""

    def __enter__(self) -> None:
        stated.tries += 1

    def __exit__(self, kind: Any, error: Any, frames: Any) -> None:
        stated.tries -= 1
        if not current().eager and is_refusal(error):
            raise Unwinding(error)


def is_refusal(error: Any) -> bool:
    """Whether an error may come of recording alone: of what a Variable is or lacks, say."""
    if error is None or isinstance(error, UnsupportedError) or hasattr(error, REFUSED):
        return error is not None
    return any(word in str(error) for word in WORDS)
