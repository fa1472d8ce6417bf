"""Whether the lock can be installed on every system: wheels are resolved, unpacked and imported as far as can be."""
