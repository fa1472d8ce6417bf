"""The Schedules page: jobs that run without a person, under a policy that one set."""
