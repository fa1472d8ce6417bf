"""View-models: QtCore only, one per page. ``events/bridge.py`` owns their tasks and turns events into signals."""
