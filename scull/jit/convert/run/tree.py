"""Values with the lists, tuples and dictionaries that hold them, as they were at one time."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from scull.jit.convert.run.state import UNDEFINED

CONTAINERS = (list, dict, set, OrderedDict, defaultdict, deque)


class Tree:
    """A container as it was: what it was, and what it held under which keys."""

    def __init__(self, origin: Any, keys: tuple[Any, ...], children: list[Any]) -> None:
        self.origin, self.keys, self.children = origin, keys, children

    @property
    def is_dict(self) -> bool:
        return isinstance(self.origin, dict)

    def beside(self, other: "Tree") -> "Tree":
        """The same dictionary with nothing under the keys that only `other` has."""
        more = [key for key in other.keys if key not in self.keys]
        if not more:
            return self
        keys = (*self.keys, *more)
        return Tree(self.origin, keys, [*self.children, *[UNDEFINED] * len(more)])

    def child(self, key: Any) -> Any:
        """What stands under `key`."""
        return self.children[self.keys.index(key)]

    def alike(self, other: Any) -> bool:
        """Whether `other` is a container of this kind with these keys."""
        return (
            isinstance(other, Tree)
            and type(self.origin) is type(other.origin)
            and (set(self.keys) == set(other.keys) if self.is_dict else self.keys == other.keys)
        )


def tree_of(value: Any) -> Any:
    """`value`, or what it holds when it is a container."""
    if type(value) in (list, deque) or isinstance(value, tuple):
        return Tree(value, tuple(range(len(value))), [tree_of(v) for v in value])
    if type(value) in CONTAINERS and isinstance(value, dict):
        return Tree(value, tuple(value), [tree_of(v) for v in value.values()])
    if type(value) is set:
        return Tree(value, tuple(sorted(value, key=id)), [None] * len(value))
    return value


def value_of(tree: Any, origin: Any = None) -> Any:
    """The value again; a container that can change is changed when it is `origin`, else new."""
    if not isinstance(tree, Tree):
        return tree
    values = [value_of(c, c.origin if isinstance(c, Tree) else None) for c in tree.children]
    if isinstance(tree.origin, tuple):
        fields = hasattr(tree.origin, "_fields")
        return type(tree.origin)(*values) if fields else tuple(values)
    found = tree.origin if origin is tree.origin else emptied(tree.origin)
    found.clear()
    if isinstance(found, dict):
        found.update(zip(tree.keys, values, strict=True))
    elif isinstance(found, set):
        found.update(tree.keys)
    else:
        found.extend(values)
    return found


def emptied(origin: Any) -> Any:
    """A container of the same kind that nobody holds."""
    if isinstance(origin, tuple):
        return origin
    return defaultdict(origin.default_factory) if type(origin) is defaultdict else type(origin)()


def mapped(function: Callable[[Any, Any], Any], tree: Any, path: Any = ()) -> Any:
    """`tree` with each leaf replaced by what `function` gives for it and its path."""
    if not isinstance(tree, Tree):
        return function(tree, path)
    pairs = zip(tree.keys, tree.children, strict=True)
    return Tree(tree.origin, tree.keys, [mapped(function, c, (*path, k)) for k, c in pairs])


def leaves(tree: Any) -> Iterator[Any]:
    """All leaves."""
    if isinstance(tree, Tree):
        for child in tree.children:
            yield from leaves(child)
    else:
        yield tree


def restored(trees: list[Any]) -> list[Any]:
    """The values of `trees`, with the same containers in the state they were."""
    return [value_of(t, t.origin if isinstance(t, Tree) else None) for t in trees]


def shown(path: tuple[Any, ...], name: str) -> str:
    """A place within a value as Python writes it."""
    return name + "".join(f"[{key!r}]" for key in path)
