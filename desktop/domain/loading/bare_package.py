"""A package's modules without what the package itself loads.

``import acp.connection`` first runs ``acp/__init__.py``, which imports everything that the library has: 270 models that
take half a second and 14 MB. A process that uses one small module of it does not need them.
"""

import sys
from importlib.util import find_spec, module_from_spec


def bare_packages(*names: str) -> None:
    """From now on these packages are places to find their modules in, and no more: their ``__init__`` is not run. For
    the first lines of a process that names only modules; what is loaded already stays as it is. A package comes before
    those in it. Raises ModuleNotFoundError."""
    for name in names:
        if name in sys.modules:
            continue
        spec = find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError(f"There is no package named {name!r}.", name=name)
        sys.modules[name] = package = module_from_spec(spec)
        outer, _, own = name.rpartition(".")
        if outer:
            setattr(sys.modules[outer], own, package)
