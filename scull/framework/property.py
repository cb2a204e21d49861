"""Property: the numbers and texts that are saved beside a model."""

from collections.abc import Iterable

from scull.errors import ArgumentError
from scull.files.property import properties_of, property_bytes

Value = float | int | str | list[float] | list[int] | list[str]


class Property:
    """Numbers, texts and lists of these by name, as `path.meta` of a saved model holds them.

    Examples:
        >>> from scull.framework.core import Property
        >>> rates = Property()
        >>> rates.set_float("rate", 0.5)
        >>> again = Property()
        >>> again.parse_from_string(rates.serialize_to_string())
        >>> again.get_float("rate")
        0.5
    """

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}

    def set_float(self, name: str, value: float) -> None:
        """Put a number."""
        self.values[name] = float(value)

    def set_floats(self, name: str, value: Iterable[float]) -> None:
        """Put a list of numbers."""
        self.values[name] = [float(v) for v in value]

    def set_int(self, name: str, value: int) -> None:
        """Put an integer."""
        self.values[name] = int(value)

    def set_ints(self, name: str, value: Iterable[int]) -> None:
        """Put a list of integers."""
        self.values[name] = [int(v) for v in value]

    def set_string(self, name: str, value: str) -> None:
        """Put a text."""
        self.values[name] = str(value)

    def set_strings(self, name: str, value: Iterable[str]) -> None:
        """Put a list of texts."""
        self.values[name] = [str(v) for v in value]

    def get_float(self, name: str | int) -> float:
        """A number, by its name or its place."""
        names = list(self.values)
        if isinstance(name, int) and 0 <= name < len(names):
            name = names[name]
        value = self.values.get(str(name))
        if not isinstance(value, float):
            raise ArgumentError(f"the property {name!r} is no float, it is {value!r}")
        return value

    def size(self) -> int:
        """How many there are."""
        return len(self.values)

    def serialize_to_string(self) -> bytes:
        """The bytes of a file."""
        return property_bytes(self.values)

    def parse_from_string(self, data: bytes) -> None:
        """Take over what the bytes of a file say."""
        self.values = properties_of(data)
