"""The package command in the environment that `tools.py` made."""

import signal
import sys

from .command import main

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is half made is removed on the way out
sys.exit(main(sys.argv[1:]))
