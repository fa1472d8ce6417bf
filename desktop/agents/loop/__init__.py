"""The round loop: ask a model, stream its answer, make its calls, ask again."""
