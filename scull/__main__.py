"""`python -m scull doctor` is the command line; `python -m scull train.py` runs a program.

A program is a script, or a module after `-m`; `import paddle` means scull in it.
"""

import os
import runpy
import sys
from collections.abc import Sequence

from scull import cli, compat


def main(argv: Sequence[str]) -> int:
    """Run a program, or else a command."""
    if len(argv) > 1 and argv[0] == "-m":
        run_module(argv[1:])
    elif argv and argv[0] not in cli.COMMANDS and is_script(argv[0]):
        run_script(argv)
    else:
        return cli.main(argv)
    return 0


def run_script(argv: Sequence[str]) -> None:
    """What `python` does with a script: its folder is where modules are looked for first."""
    compat.install()
    sys.argv[:] = argv
    sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
    runpy.run_path(argv[0], run_name="__main__")


def run_module(argv: Sequence[str]) -> None:
    """What `python -m` does with a module; one of paddle's own is that of scull."""
    compat.install()
    sys.argv[:] = argv
    runpy.run_module(compat.own(argv[0]), run_name="__main__", alter_sys=True)


def is_script(name: str) -> bool:
    """Whether a word on the command line is a file of Python."""
    return name.endswith(".py") or os.path.isfile(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
