"""Settings: models and keys, and pages made from the schema of config.yaml."""
