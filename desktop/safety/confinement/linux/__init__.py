"""What confines processes on Linux: bubblewrap, Landlock, filters of system calls, and a look at memory.

Nothing of it is imported on another system: each module refuses that.
"""
