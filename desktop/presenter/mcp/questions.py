"""What a server asks a person during a call, one question at a time, and the person's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.servers.questions import AnswerValue, AskedField, PersonAnswer, ServerQuestion
from desktop.presenter.approvals.call_words import names_of
from desktop.tools.mcp.asking.form import checked, typed

if TYPE_CHECKING:
    from desktop.tools.mcp.asking.questions import PersonQuestions

GONE = "The call is over, so the question is, too. Nothing was sent."


class ServerQuestionsViewModel(QObject):
    """``current`` is the oldest question; ``changed`` follows when it is another one, or how many wait behind it."""

    changed = Signal()

    def __init__(
        self, questions: PersonQuestions, parent: QObject | None = None, titles: Mapping[str, str] | None = None
    ) -> None:
        """``titles`` are what a person reads of agents, by their names; they may change."""
        super().__init__(parent)
        self._titles: Mapping[str, str] = {} if titles is None else titles
        self._questions = questions
        self._leave: Callable[[], None] | None = questions.attend(self.changed.emit)

    @property
    def current(self) -> ServerQuestion | None:
        """The question that is shown, or None."""
        return next(iter(self._questions.waiting), None)

    def asked_by(self, question: ServerQuestion) -> tuple[str, ...]:
        """Whose call it is about, from the outside in."""
        return names_of(question.asked_by, self._titles)

    @property
    def behind(self) -> int:
        """How many more wait."""
        return max(0, len(self._questions.waiting) - 1)

    def is_open(self, question_id: str) -> bool:
        """Whether it still waits for an answer."""
        return any(one.question_id == question_id for one in self._questions.waiting)

    def value(self, asked: AskedField, raw: object) -> AnswerValue | None:
        """What a control holds, as it would be sent; None: nothing. Raises ValueError with a sentence."""
        if asked.kind in ("text", "number", "integer"):
            return typed(asked, str(raw))
        if raw is None:
            if asked.required:
                raise ValueError("Choose one.")
            return None
        return checked(asked, raw)

    def send(self, question_id: str, values: Mapping[str, AnswerValue]) -> bool:
        """The person answered; False where the question is gone, or something does not fit."""
        return self._questions.answer(question_id, PersonAnswer("accept", dict(values)))

    def refuse(self, question_id: str) -> None:
        """The person does not answer; the call goes on without."""
        self._questions.answer(question_id, PersonAnswer("decline"))

    def stop_call(self, question_id: str) -> None:
        """The person does not answer, and ends the call."""
        self._questions.answer(question_id, PersonAnswer("cancel", stops=True))

    def close(self) -> None:
        """The window is gone: nobody is here to be asked."""
        if self._leave is not None:
            self._leave()
            self._leave = None
