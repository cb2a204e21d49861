"""`python -m scull doctor` is the command line; `python -m scull script.py` runs a script."""

import os
import runpy
import sys
from collections.abc import Sequence

from scull import cli, compat


def main(argv: Sequence[str]) -> int:
    """Run a script, in which `import paddle` means scull, or else a command."""
    if not argv or argv[0] in cli.COMMANDS or not is_script(argv[0]):
        return cli.main(argv)
    compat.install()
    sys.argv[:] = argv
    sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
    runpy.run_path(argv[0], run_name="__main__")
    return 0


def is_script(name: str) -> bool:
    """Whether a word on the command line is a file of Python."""
    return name.endswith(".py") or os.path.isfile(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
