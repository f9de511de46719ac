"""What a shift's jobs spend on models: a trace each, under the record's budget, and what the record is to be told."""

from dataclasses import dataclass, field

from core.budget import Budget
from core.events import CallEvent
from core.ports.record import Claim, JobUsage
from core.trace import Event, Trace

__all__ = ["Ledger"]


@dataclass
class _Account:
    """`elsewhere` is what the job had spent before this shift, or spends in other workers, as far as is known.

    `calls` are those that ended: what is cancelled while it waits for its turn was never made.
    """

    job_id: str
    trace: Trace = field(default_factory=Trace)
    elsewhere: int = 0
    calls: int = 0
    told: JobUsage = field(default_factory=lambda: JobUsage(job_id=""))

    def __post_init__(self) -> None:
        self.trace.listeners.append(self._count)

    def _count(self, event: Event) -> None:
        self.calls += isinstance(event, CallEvent) and not event.cached
        self.trace.events.clear()  # nobody reads a job's events, and it may make a million calls

    @property
    def untold(self) -> JobUsage:
        usage, told = self.trace.usage, self.told
        return JobUsage(
            job_id=self.job_id,
            calls=self.calls - told.calls,
            prompt_tokens=usage.prompt_tokens - told.prompt_tokens,
            completion_tokens=usage.completion_tokens - told.completion_tokens,
        )


class Ledger:
    """One account a job. Documents of one job share its trace, and so its budget."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def trace_of(self, claim: Claim) -> Trace:
        """The trace of the claim's job, its budget as of this claim."""
        account = self._accounts.setdefault(claim.job_id, _Account(claim.job_id))
        used = account.trace.usage.tokens  # what the record knew of it is among `tokens_spent`, and perhaps not all
        account.elsewhere = max(account.elsewhere, claim.tokens_spent - used)
        limit = None if claim.token_budget is None else max(0, claim.token_budget - account.elsewhere)
        account.trace.budget = Budget(tokens=limit)
        return account.trace

    def untold(self) -> list[JobUsage]:
        """What was spent since `tell` was called last, of each job that spent anything."""
        return [
            spent
            for account in self._accounts.values()
            if (spent := account.untold).calls or spent.prompt_tokens or spent.completion_tokens
        ]

    def tell(self, spent: list[JobUsage]) -> None:
        """Note that the record has taken these."""
        for one in spent:
            account = self._accounts[one.job_id]
            account.told = JobUsage(
                job_id=one.job_id,
                calls=account.told.calls + one.calls,
                prompt_tokens=account.told.prompt_tokens + one.prompt_tokens,
                completion_tokens=account.told.completion_tokens + one.completion_tokens,
            )
