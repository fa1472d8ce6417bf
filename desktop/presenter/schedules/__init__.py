"""The Schedules page without widgets."""
