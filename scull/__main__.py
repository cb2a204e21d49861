"""`python -m scull` is the command line."""

import sys

from scull.cli import main

if __name__ == "__main__":
    sys.exit(main())
