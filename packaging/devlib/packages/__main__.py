"""The package command in the environment that `tools.py` made."""

import sys

from .command import main

sys.exit(main(sys.argv[1:]))
