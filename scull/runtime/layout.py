"""Structures in memory as LLVM IR reads them: fields by name instead of offsets.

`%x = flags in array %object` reads a field, `%x = place of flags in array %object` is where it is.
"""

import re
from collections.abc import Mapping

Layout = Mapping[str, tuple[int, str]]  # by name the offset and the type of a field

FIELD = re.compile(r"^  (%\S+) = (place of )?(\w+) in (\w+) ([%@]\S+)$", re.MULTILINE)


def with_offsets(text: str, layouts: Mapping[str, Layout]) -> str:
    """The text with each such line as instructions of LLVM."""

    def read(found: re.Match[str]) -> str:
        name, only_place, field, layout, base = found.groups()
        offset, kind = layouts[layout][field]
        place = name if only_place else f"{name}.at"
        line = f"  {place} = getelementptr i8, ptr {base}, i64 {offset}"
        return line if only_place else f"{line}\n  {name} = load {kind}, ptr {place}"

    return FIELD.sub(read, text)
