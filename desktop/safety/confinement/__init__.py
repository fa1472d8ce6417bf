"""What holds processes so that the boundary binds them: sandbox profiles, limits, environment, output."""
