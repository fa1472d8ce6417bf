"""The sandbox for code that models write: each session has a process that holds an engine and nothing else."""
