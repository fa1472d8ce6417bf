"""The composition root: Qt and the loop, the home, crash reports, logs, `--check`, orderly end. Nobody imports it."""
