"""What ``dev.py publish`` runs in the environment: makes keys, or a repository."""

import argparse
import sys
from pathlib import Path

from .keys import ROLES, make_keys, read_keys
from .packages import packages_in
from .repository import Repository


def main(arguments: list[str]) -> int:
    """Returns the exit code; what goes wrong is said on stderr."""
    parser = argparse.ArgumentParser(prog="dev.py publish")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--keys", type=Path, required=True)
    parser.add_argument("--new-keys", action="store_true")
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--for-builds", type=Path)
    parser.add_argument("--address", default="")
    options = parser.parse_args(arguments)
    try:
        if options.new_keys:
            make_keys(options.keys)
        repository = Repository(options.repository, read_keys(options.keys))
        found = packages_in(options.packages) if options.packages is not None else []
        said = repository.publish(found)
        if options.for_builds is not None:
            said.append(repository.for_builds(options.for_builds, options.address))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"publish: {error}\n")
        return 1
    sys.stdout.write("\n".join([*said, f"signed as {', '.join(ROLES)}; the folder can be served as it is."]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
