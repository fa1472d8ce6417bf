"""What a run without a person may do: what its job lists, and where the job works up to the edge of its folder, what
stays within (R-CRON-1 … R-CRON-4, R-ASK-1). Nobody is asked: what would ask is denied, with the reason."""

from __future__ import annotations

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.jobs import Unattended
from desktop.domain.safety import SettingsProvider
from desktop.safety.boundary.policy import only_granted
from desktop.safety.permission.granting import JudgedCall
from desktop.safety.permission.refusals import deny, unconsented


def forbids(rule: RuleMatch | None) -> bool:
    """Whether a rule keeps a job from the call: it denies, or wants a person asked who is not there."""
    return rule is not None and rule.policy != "allow" and not (rule.policy == "ask" and rule.bare)


def looks_first(call: JudgedCall, job: Unattended) -> bool:
    """Whether only what the call does in a copy can say if it stays within the edge."""
    listed = not job.refusal(call.facts)
    return job.at_edge and not listed and not job.denies(call.facts) and not unconsented(call.request)


def answer_of_job(call: JudgedCall, job: Unattended, settings: SettingsProvider) -> Decision:
    """By the job's own policy alone: what a person remembered for other runs or opened for the session grants nothing
    (R-FS-8). Blocks."""
    request = call.request
    refused = unconsented(request) or job.refusal(call.facts)
    if refused and (not job.at_edge or job.denies(call.facts)):
        return deny(request, "job", refused)
    opened = only_granted(settings(), request.paths, call.facts.project) if request.paths else ""
    if opened:
        return deny(request, "job", f"only a folder opened for this session allows {opened}, and jobs use none")
    if not refused:
        return Decision("allow_once", request.digest, by="job")
    if call.within_edge and not request.stale and not call.facts.asks:
        return Decision("allow_once", request.digest, by="edge")
    return deny(request, "job", f"{refused}, and {_past(request)}")


def _past(request: PermissionRequest) -> str:
    said = "; ".join(one.words for one in request.past_edge)
    return f"it goes past the edge of the folder: {said}" if said else "it changed since it was looked at"
