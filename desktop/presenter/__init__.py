"""View-models: QtCore only, one per page. ``bridge`` owns every task and turns runtime events into signals."""
