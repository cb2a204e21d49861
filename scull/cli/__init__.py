"""The command line, `scull <command>`.

A command is a module with `main(arguments) -> int`: the words after its name, the exit code.
"""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True)
class Command:
    """Where a command lives and what it does, in a line."""

    module: str
    summary: str


COMMANDS = {
    "doctor": Command("scull.cli.doctor", "what this machine offers, what is slow and why"),
    "explain": Command("scull.cli.explain", "pages that show how saved models are run"),
    "inspect": Command("scull.cli.inspect", "what is in a saved model"),
    "run": Command("scull.cli.run", "a saved model on arrays from files"),
    "diff": Command("scull.cli.diff", "what differs between two saved models"),
    "decompile": Command("scull.cli.decompile", "a saved model as the source of a layer"),
    "cache": Command("scull.cli.cache", "the compiled code on disk: how much, or remove it"),
    "demo": Command("scull.cli.demo", "train on handwritten digits, eagerly and as a Program"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code of the process."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        print(usage(), file=sys.stderr)
        return 2
    name, *rest = arguments
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name == "--version":
        print(f"scull {version()}")
        return 0
    if name not in COMMANDS:
        print(f"scull: there is no command `{name}`\n\n{usage()}", file=sys.stderr)
        return 2
    return int(importlib.import_module(COMMANDS[name].module).main(rest))


def usage() -> str:
    """The commands, a line each."""
    rows = "\n".join(f"  {name:<10}{command.summary}" for name, command in COMMANDS.items())
    return f"usage: scull [--help] [--version] <command> [<argument> ...]\n\ncommands:\n{rows}"


def version() -> str:
    """The version that is installed."""
    try:
        return metadata.version("scull")
    except metadata.PackageNotFoundError:
        return "(run from its sources, not installed)"
