"""The passes that a model goes through before it runs, as Paddle's code arranges them."""

from collections.abc import Iterable

from scull.errors import RangeError
from scull.passes.selection import INFERENCE


class PassBuilder:
    """A list of passes; `Config.pass_builder` gives it.

    Names of Paddle's passes that are none here may be put in and do nothing.

    Examples:
        >>> from scull.inference import Config
        >>> builder = Config().pass_builder()
        >>> builder.delete_pass("constant_folding_pass")
        >>> "constant_folding_pass" in builder.all_passes()
        False
    """

    def __init__(self, passes: Iterable[str] = INFERENCE) -> None:
        self.names = list(passes)

    def all_passes(self) -> list[str]:
        """The names, in order."""
        return list(self.names)

    def analysis_passes(self) -> list[str]:
        """What Paddle does around its passes: here nothing."""
        return []

    def set_passes(self, passes: Iterable[str]) -> None:
        """Have these passes and no others."""
        self.names = list(passes)

    def append_pass(self, pass_type: str) -> None:
        """Add a pass at the end."""
        self.names.append(pass_type)

    append_analysis_pass = append_pass

    def insert_pass(self, idx: int, pass_type: str) -> None:
        """Add a pass before the one at `idx`."""
        if not 0 <= idx <= len(self.names):
            raise RangeError(f"there are {len(self.names)} passes, no place {idx}")
        self.names.insert(idx, pass_type)

    def delete_pass(self, pass_type: str) -> None:
        """Leave a pass out."""
        self.names = [name for name in self.names if name != pass_type]

    def turn_on_debug(self) -> None:
        """Accepted: `str(plan)` and SCULL_DEBUG show what runs."""

    def debug_string(self) -> str:
        """The passes as text, a line each."""
        return "Passes to apply:\n" + "".join(f"  - {name}\n" for name in self.names)
