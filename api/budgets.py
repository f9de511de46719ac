"""What a request may cost: what it asks for, never more than the server allows."""

from api.schemas.ask import BudgetIn
from core.budget import Budget
from core.errors import InvalidInput
from core.settings import BudgetSettings

__all__ = ["allowed"]


def allowed(settings: BudgetSettings, asked: BudgetIn | None = None) -> Budget:
    """The server's limits, lowered to those of the request; raises `InvalidInput` naming a limit that is higher."""
    limits = settings.model_dump()
    for name, value in (asked.model_dump(exclude_none=True) if asked else {}).items():
        most = limits[name]
        if most is not None and value > most:
            raise InvalidInput(
                f"budget.{name} is {value:g}, and this server allows {most:g} for one question "
                f"(HOPWEAVE_BUDGET__{name.upper()}); ask for less, or leave it out"
            )
        limits[name] = value
    return Budget(**limits)
