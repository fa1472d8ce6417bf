"""The package command in the environment that `tools.py` made. Told to end, it removes what is half made."""

import sys

from ..ending import until_told
from .command import main

sys.exit(until_told(lambda: main(sys.argv[1:])))
