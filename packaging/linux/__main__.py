"""`python -m linux DIR --date YYYY-MM-DD` writes everything below DIR, which is a `share` folder."""

import argparse
import datetime
import sys
from pathlib import Path

from linux.share import write_share


def main() -> int:
    """Write the files, and name them."""
    parser = argparse.ArgumentParser(prog="python -m linux", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--date", type=datetime.date.fromisoformat, required=True, help="of this version")
    options = parser.parse_args()
    for path in write_share(options.folder, options.date):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
