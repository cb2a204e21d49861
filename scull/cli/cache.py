"""`scull cache`: the compiled code kept on disk, how much there is, and how to be rid of it."""

import argparse
from collections.abc import Sequence

from scull.runtime.object_cache import ObjectCache, object_cache


def main(arguments: Sequence[str]) -> int:
    """Print what is kept, or remove it."""
    text = "Print where compiled code is kept and how much, or remove it."
    parser = argparse.ArgumentParser(prog="scull cache", description=text)
    parser.add_argument("action", nargs="?", choices=("show", "clear"), default="show")
    options = parser.parse_args(arguments)
    cache = object_cache()
    if options.action == "clear":
        print(f"{cache.clear()} files removed")
    else:
        print(cache_text(cache))
    return 0


def cache_text(cache: ObjectCache) -> str:
    """Where a cache is and how full, or why there is none, in a line."""
    problem = cache.problem()
    if problem is not None:
        return f"none: {problem}"
    entries = cache.entries()
    size = sum(entry.size for entry in entries)
    limit = cache.limit / 2**20
    return f"{cache.folder}, {len(entries)} kernels, {size / 2**20:.1f} of {limit:.0f} MiB"
