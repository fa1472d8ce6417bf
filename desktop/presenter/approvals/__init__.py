"""The Approvals page without widgets: requests, rules and the activity log."""
