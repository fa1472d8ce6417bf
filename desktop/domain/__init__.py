"""Frozen records, ids, events, Protocols and errors that every room shares.

No I/O, no Qt, and no import of any other room of ours. Rooms that may not import each other meet here.
"""
