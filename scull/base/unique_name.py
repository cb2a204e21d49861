"""Unique names under their older name."""

from scull.utils.unique_name import (
    UniqueNameGenerator,
    generate,
    generate_with_ignorable_key,
    guard,
    switch,
)

__all__ = ["UniqueNameGenerator", "generate", "generate_with_ignorable_key", "guard", "switch"]
