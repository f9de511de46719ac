"""`hopweave doctor`."""

from typing import TYPE_CHECKING

import typer

from cli.console import emit, show
from cli.options import AsJson
from cli.running import run_with_container

if TYPE_CHECKING:
    from app.container import Container
    from app.findings import Finding

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(as_json: AsJson = False) -> None:
    """Look at what is configured, reachable and consistent; say what to do about what is not."""
    from app.diagnosis import diagnose, examine_folder, examine_services
    from app.findings import Level
    from core.settings import read_settings

    settings = read_settings()
    findings = examine_folder(settings)

    async def outside(container: "Container") -> "list[Finding]":
        return [finding async for finding in examine_services(container)]

    async def work(container: "Container") -> "list[Finding]":
        return [finding async for finding in diagnose(container)]

    if all(finding.level is not Level.PROBLEM for finding in findings):
        findings += run_with_container(work if settings.data_dir.exists() else outside, settings)
    healthy = all(finding.level is not Level.PROBLEM for finding in findings)
    if as_json:
        emit({"healthy": healthy, "data_dir": str(settings.data_dir), "findings": findings})
    else:
        for finding in findings:
            _show(finding)
        show("all is well" if healthy else "there are problems")
    if not healthy:
        raise typer.Exit(1)


def _show(finding: "Finding") -> None:
    show(f"{finding.level:<8} {finding.subject}: {finding.detail}")
    if finding.remedy:
        show(f"{'':<8} → {finding.remedy}")
