"""What holds processes so that the boundary binds them: walls, limits, environment, output."""
