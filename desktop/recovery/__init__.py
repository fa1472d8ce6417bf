"""What an earlier process did with the calls of a run: written before it is done, read when the run is gone on with."""
