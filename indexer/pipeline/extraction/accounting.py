"""Accounting of model calls: a trace with a budget for each job, and the usage that the record does not have yet."""

from dataclasses import dataclass, field

from core.events import CallEvent
from core.ports.record import Claim, JobUsage
from core.trace import Budget, Event, Trace


@dataclass
class _Account:
    """The usage of one job in this run.

    `elsewhere` are the tokens that the job spent before this run, or spends in other workers, as far as is known.
    `calls` counts the calls that ended: a call that is cancelled while it waits for its turn was never made. `recorded`
    is the usage in the record.
    """

    job_id: str
    trace: Trace = field(default_factory=Trace)
    elsewhere: int = 0
    calls: int = 0
    recorded: JobUsage = field(default_factory=lambda: JobUsage(job_id=""))

    def __post_init__(self) -> None:
        self.trace.listeners.append(self._count)

    def _count(self, event: Event) -> None:
        self.calls += isinstance(event, CallEvent) and not event.cached
        self.trace.events.clear()  # no code reads the events of a job, which may make a million calls

    @property
    def unrecorded(self) -> JobUsage:
        usage, recorded = self.trace.usage, self.recorded
        return JobUsage(
            job_id=self.job_id,
            calls=self.calls - recorded.calls,
            prompt_tokens=usage.prompt_tokens - recorded.prompt_tokens,
            completion_tokens=usage.completion_tokens - recorded.completion_tokens,
        )


class Accounting:
    """Counts what each job spends. The documents of one job share its trace, and so its budget."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def trace_of(self, claim: Claim) -> Trace:
        """Returns the trace of the job of a claim. Its budget is what was left when the claim was made."""
        account = self._accounts.setdefault(claim.job_id, _Account(claim.job_id))
        used = account.trace.usage.tokens  # `tokens_spent` includes the part that the record had
        account.elsewhere = max(account.elsewhere, claim.tokens_spent - used)
        limit = None if claim.token_budget is None else max(0, claim.token_budget - account.elsewhere)
        account.trace.budget = Budget(tokens=limit)
        return account.trace

    def unrecorded(self) -> list[JobUsage]:
        """Returns the usage since the last `mark_recorded`, of each job that has any."""
        return [
            spent
            for account in self._accounts.values()
            if (spent := account.unrecorded).calls or spent.prompt_tokens or spent.completion_tokens
        ]

    def mark_recorded(self, spent: list[JobUsage]) -> None:
        """Notes that the record has stored this usage."""
        for one in spent:
            account = self._accounts[one.job_id]
            account.recorded = JobUsage(
                job_id=one.job_id,
                calls=account.recorded.calls + one.calls,
                prompt_tokens=account.recorded.prompt_tokens + one.prompt_tokens,
                completion_tokens=account.recorded.completion_tokens + one.completion_tokens,
            )
