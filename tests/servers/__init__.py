"""Servers of ours that tests talk to: real processes, real sockets."""
