"""Examines whether the configured language models answer, and how they are asked for JSON."""

from app.doctor.findings import Finding, Level
from core.errors import HopweaveError
from core.settings import LlmSettings
from models import ConfiguredModel, ConfiguredModels, OutputMode, Probe

__all__ = ["check_models"]

_SUBJECT = "language model"
_ENOUGH_CONTEXT = 8192
"""Tokens in which the passages of most questions fit, and an answer."""
_MODES = {
    OutputMode.SCHEMA: "a JSON schema",
    OutputMode.OBJECT_OF_SCHEMA: "JSON mode with a schema",
    OutputMode.OBJECT: "JSON mode (it knows no JSON schema)",
    OutputMode.TEXT: "words alone (it knows neither a JSON schema nor JSON mode)",
}


async def check_models(models: ConfiguredModels, settings: LlmSettings) -> list[Finding]:
    """Returns one finding for each configured model. Each is asked one short question, which its provider may bill."""
    if not settings.model and not any(role.model for role in settings.roles.values()):
        detail = "none is configured; answers are extracted, not written"
        return [Finding(subject=_SUBJECT, level=Level.NOTE, detail=detail, remedy="HOPWEAVE_LLM__MODEL sets one")]
    findings = []
    named: dict[int, tuple[ConfiguredModel, list[str]]] = {}
    for role in [*([""] if settings.model else []), *sorted(settings.roles)]:
        try:
            configured = models.configured(role)
        except HopweaveError as error:
            findings.append(Finding(subject=_subject([role]), level=Level.PROBLEM, detail=str(error)))
            continue
        named.setdefault(id(configured), (configured, []))[1].append(role)
    return findings + [
        await _check(configured, roles, is_small=models.is_small(roles[0])) for configured, roles in named.values()
    ]


async def _check(configured: ConfiguredModel, roles: list[str], *, is_small: bool) -> Finding:
    subject = _subject(roles)
    try:
        probe = await configured.probe()
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{configured.model} at {configured.url} answers; it is asked for JSON by {_MODES[probe.mode]}"
    if is_small:
        detail += ", and for short answers, as a small model (HOPWEAVE_LLM__PROFILE)"
    detail += _describe_speed(probe)
    if probe.context is not None:
        detail += f"; its context is {probe.context} tokens"
    if probe.truncates and (probe.context or 0) < _ENOUGH_CONTEXT:
        is_noticed = ", which is noticed: passages are then left out" if probe.context else " unnoticed"
        detail += f"; Ollama truncates longer prompts{is_noticed}"
        remedy = f"OLLAMA_CONTEXT_LENGTH={_ENOUGH_CONTEXT} or more, for the process of Ollama"
        return Finding(subject=subject, level=Level.NOTE, detail=detail, remedy=remedy)
    if probe.heeded:
        return Finding(subject=subject, level=Level.OK, detail=detail)
    remedy = "answers that cannot be read are asked for once more; a model that follows instructions better saves that"
    return Finding(subject=subject, level=Level.NOTE, detail=f"{detail}, and answered otherwise", remedy=remedy)


def _describe_speed(probe: Probe) -> str:
    speeds = {"reads": probe.read_per_second, "writes": probe.written_per_second}
    told = [f"{verb} {speed:.3g}" for verb, speed in speeds.items() if speed is not None]
    return f"; it {' and '.join(told)} tokens a second" if told else ""


def _subject(roles: list[str]) -> str:
    """Roles without a model of their own use the general model, whose role is empty."""
    return _SUBJECT if "" in roles else f"{_SUBJECT} of {', '.join(roles)}"
