"""Below the head of a job's thread: whose run it is, and under whose rules what a person does here runs (R-CRON-6)."""

from __future__ import annotations

from desktop.domain.threads import ThreadJob
from desktop.presenter.schedules.words import thread_words
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.shown import shown_line


class JobStrip(Notice):
    """Hidden for a thread that is no job's."""

    def __init__(self) -> None:
        super().__init__("info", icon="schedules", banner=True, slim=True)
        self.hide()

    def show_job(self, job: ThreadJob | None) -> None:
        """Say which job this thread is a run of, or hide the strip."""
        self.setVisible(job is not None)
        if job is not None:
            self.say(shown_line(thread_words(job)))
