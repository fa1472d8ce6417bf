"""The composition root: Qt and the loop, the home, crash reports, logs, `--check`, an orderly end. Nobody imports it."""
