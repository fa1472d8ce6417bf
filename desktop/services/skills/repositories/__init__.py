"""Skills from repositories: looked at, taken, compared with what is newer there, given back."""
