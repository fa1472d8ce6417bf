"""Official conformance suites, run against the app's own ends of a protocol."""
