"""All skills there are: folders scanned, watched, indexed, pinned, searched."""
