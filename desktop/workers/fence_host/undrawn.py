"""Why a source is not drawn."""


class NotDrawn(Exception):
    """A sentence for a person."""
