"""Publishing new versions: a repository of The Update Framework, made from a folder of packages, signed with keys that
lie outside of it. `python3 packaging/dev.py publish --help` says how it is used."""
