"""The `name` every public function takes."""

NOTHING: dict[str, str] = {}


def named(name: str | None) -> dict[str, str]:
    """The keyword that gives an operator's result its name; nothing for None."""
    return NOTHING if name is None else {"name": name}
