"""What a recorded function returns and leaves behind, as variables of its Program."""

from typing import TYPE_CHECKING, Any

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.run.refusal import UNKNOWN, refused
from scull.jit.convert.run.value import is_array
from scull.jit.signature import leaves
from scull.static.growing import preceded
from scull.tensor import stack
from scull.tensor.creation import assign, zeros

if TYPE_CHECKING:
    from scull.jit.capture import Capture


class Held:
    """A value of Python that only a run knows: the variable that stands for it."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    def value(self, found: Tensor) -> Any:
        """What it is when the variable is `found`."""
        raise NotImplementedError


class Stacked(Held):
    """A list whose tensors are rows of the variable."""

    def value(self, found: Tensor) -> Any:
        return list(found)


class Number(Held):
    """A number."""

    def value(self, found: Tensor) -> Any:
        return found.item()


class Exits:
    """Makes the variables of what a function gives: one for each place, for gradients come in
    for each."""

    def __init__(self, mode: "Capture") -> None:
        self.mode, self.seen = mode, set[int]()

    def __call__(self, value: Any) -> Any:
        """The variable of a tensor; other values as they are."""
        found = self.mode.capture(value) if isinstance(value, Tensor) else value
        if not isinstance(found, Variable):
            return found
        if is_array(found):
            return stacked(found)
        if id(found) in self.seen:
            return assign(found)
        self.seen.add(id(found))
        return found


def stacked(array: Variable) -> Any:
    """A list of a Program as it leaves that."""
    if -1 in array.shape:
        law = f"a list of tensors of unknown sizes is returned, and its length {UNKNOWN}"
        raise refused(law, "return `paddle.stack` or `paddle.concat` of it")
    first = zeros(list(array.shape), array.dtype)  # so that there is something to be stacked
    return Stacked(stack(preceded(array, [first]))[1:])


def variables_in(value: Any) -> list[Variable]:
    """The variables in nested containers, in order."""
    found = [v.variable if isinstance(v, Held) else v for v in leaves(value)]
    return [v for v in found if isinstance(v, Variable)]
