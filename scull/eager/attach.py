"""The methods of Tensor are written by theme, as classes whose members move to it."""

from collections.abc import Callable

OWN = (
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__static_attributes__",
    "__weakref__",
)


def attach(*targets: type) -> Callable[[type], type]:
    """A decorator: the members of a class become members of `targets`."""

    def give(source: type) -> type:
        for name, member in vars(source).items():
            if name not in OWN:
                for target in targets:
                    setattr(target, name, member)
        return source

    return give
