"""Servers that speak OpenAI's format, asked without the model library: its reading of an answer takes half a
millisecond of a processor for each token, and the library itself 160 MB.

``opening.py`` is the way in; ``web.py`` makes one request, ``request.py`` writes what it says, ``events.py`` and
``stream.py`` read what is answered.
"""
