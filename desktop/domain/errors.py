"""Every error of Assent, one sentence each.

``KnownError``: the world is at fault; its text is for a person and names the next step; no traceback is shown.
``BugError``: we are at fault; a crash report is written that the person can copy.
"""

from __future__ import annotations


class AssentError(Exception):
    """Base of all errors that we raise on purpose."""

    next_step = ""
    """What a person can do; of a ``KnownError`` alone."""

    @property
    def advice(self) -> str:
        """What happened, and what to do next, in one text."""
        return f"{self} {self.next_step}".strip()


class BugError(AssentError):
    """We broke a promise to ourselves: a crash report is due."""


class KnownError(AssentError):
    """The world is at fault: what happened, and the next step for the person.

    ``code`` is stable and for machines (``model.rate_limited``); ``str(error)`` is for the person;
    ``next_step`` says what to do, possibly empty.
    """

    code = "known"

    def __init__(self, message: str, *, next_step: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.next_step = next_step
        if code is not None:
            self.code = code


# -- models ---------------------------------------------------------------------------------------------------------


class ModelError(KnownError):
    """A model request failed; ``transient`` says whether trying again can help (R-LOOP-14)."""

    code = "model.failed"
    transient = False


class ModelUnreachable(ModelError):
    """The server refused the connection or the network is down."""

    code = "model.unreachable"
    transient = True


class ModelKeyRefused(ModelError):
    """The provider does not accept the key, or there is none."""

    code = "model.key_refused"


class ModelRateLimited(ModelError):
    """The provider asks us to wait ``retry_after`` seconds (None: it did not say)."""

    code = "model.rate_limited"
    transient = True

    def __init__(self, message: str, *, retry_after: float | None = None, next_step: str = "") -> None:
        super().__init__(message, next_step=next_step)
        self.retry_after = retry_after


class ModelContextTooLong(ModelError):
    """The conversation does not fit the model's context window."""

    code = "model.context_too_long"


class ModelUnknown(ModelError):
    """The provider does not have this model (any more)."""

    code = "model.unknown"


class ModelBadRequest(ModelError):
    """The provider refused the request as malformed; trying again will not help."""

    code = "model.bad_request"


class ModelRedirected(ModelError):
    """The server sends requests on to another address. Never followed: the key would go there."""

    code = "model.redirected"


class ModelServerError(ModelError):
    """The provider failed on its side (5xx, overloaded)."""

    code = "model.server_error"
    transient = True


class ModelStreamBroken(ModelError):
    """The answer's stream ended before it said it was finished."""

    code = "model.stream_cut"
    transient = True


class ModelTooSlow(ModelError):
    """No answer, or not all of it, before the deadline that the request carried."""

    code = "model.too_slow"
    transient = True


class ModelHostDied(ModelError):
    """The process that talks to models died; it has been started again."""

    code = "model.host_died"
    transient = True


# -- tools and safety -----------------------------------------------------------------------------------------------


class ToolFailure(KnownError):
    """A tool call failed; the text is content for the model, never an exception out of the loop (R-LOOP-3)."""

    code = "tool.failed"


class ValidationFailure(ToolFailure):
    """Arguments do not fit the schema; the text names each field (R-TOOL-2)."""

    code = "tool.validation"


class Denied(ToolFailure):
    """A gate refused a call; ``code`` is one of ``denied.allowed_tools | permission | blocklist | boundary |
    limit | visibility | untrusted_ref`` (R-INV-17)."""

    code = "denied"


class ToolTimeout(ToolFailure):
    """A tool ran over its time limit and was ended with its whole process group (R-TMO-2)."""

    code = "tool.timeout"


class RealFilesChanged(ToolFailure):
    """What a call did in a copy was not taken over, because real files changed meanwhile; nothing was done."""

    code = "tool.changed_meanwhile"


class CannotBeUndone(ToolFailure):
    """A call that may only be made if it can be undone was not made; nothing was done. The text says why, in words that
    go on in a sentence."""

    code = "changes.not_undoable"


class ToolAborted(ToolFailure):
    """The run was cancelled while the tool ran (R-TMO-7)."""

    code = "tool.aborted"


class BoundaryViolation(Denied):
    """A path lies outside the allowed folders or inside a denied one (R-FS-7)."""

    code = "denied.boundary"


class CancellationError(AssentError):
    """A token was cancelled or its deadline passed; ``reason`` says by whom and why (R-CAN-2)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# -- limits ---------------------------------------------------------------------------------------------------------


class LimitReached(KnownError):
    """A limit stopped the work; ``limit`` names it, its value and where it was set (R-LIM-5)."""

    code = "limit"

    def __init__(self, message: str, *, limit: str, next_step: str = "", code: str | None = None) -> None:
        super().__init__(message, next_step=next_step, code=code)
        self.limit = limit


class BudgetExhausted(LimitReached):
    """A run tree used up its tokens, cost, rounds, time or agents (R-SUP-7, R-SUP-5)."""

    code = "limit.budget"


# -- storage, settings, secrets, children ----------------------------------------------------------------------------


class StoreError(KnownError):
    """The database cannot be used as asked."""

    code = "store.failed"


class StoreCorrupt(StoreError):
    """The database file is damaged; it is kept as it is, and a copy is offered."""

    code = "store.corrupt"


class StoreTooNew(StoreError):
    """The database was written by a newer Assent; it is left untouched."""

    code = "store.too_new"


class StoreFull(StoreError):
    """The disk is full; what could not be written is still on screen."""

    code = "store.disk_full"


class HomeInUse(KnownError):
    """Raised when another Assent is running on this home."""

    code = "home.in_use"


class HomeNotWritable(KnownError):
    """The home folder cannot be written."""

    code = "home.not_writable"


class SettingsError(KnownError):
    """config.yaml has a mistake; line and column are named and the last good values stay in force."""

    code = "settings.invalid"

    def __init__(
        self, message: str, *, line: int | None = None, column: int | None = None, next_step: str = ""
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.line = line
        self.column = column


class SecretsUnavailable(KnownError):
    """There is no usable keyring, or it is locked, or it did not answer in time (R-SEC-2)."""

    code = "secrets.unavailable"


class ChildDied(KnownError):
    """A child process ended while a call was under way; it costs that call and is started again."""

    code = "child.died"


class ProtocolViolation(KnownError):
    """A child sent something that the pipe protocol does not allow; its process was ended."""

    code = "child.protocol"


class NotFound(KnownError):
    """The thing named does not exist; the text offers near matches where there are any (R-RES-20)."""

    code = "not_found"


class ExportFailed(KnownError):
    """The place that a person chose for a file refuses it."""

    code = "export.failed"

    def __init__(self, name: str, error: OSError) -> None:
        super().__init__(f"“{name}” could not be written: {error.strerror}.", next_step="Choose another place.")


class ConfigurationError(KnownError):
    """A definition, limit or skill is wrong; nothing was started (R-LIM-7, R-DEF-14)."""

    code = "configuration"


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What made a group of tasks break off; the others are its echo."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
