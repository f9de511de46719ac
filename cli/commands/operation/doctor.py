"""`hopweave doctor`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result
from cli.runtime import run_with_container

if TYPE_CHECKING:
    from app.container import Container
    from app.doctor.findings import Finding
    from core.settings import Settings


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Repair views that differ from the record.")] = (False),
    as_json: AsJson = False,
) -> None:
    """Check what is configured, reachable and consistent, and say how to fix what is not."""
    from app.doctor.findings import Level
    from core.settings import read_settings

    settings = read_settings()
    repaired = _repair_views(settings) if repair else []
    findings = _collect_findings(settings)
    healthy = all(finding.level is not Level.PROBLEM for finding in findings)
    if as_json:
        shown = {"healthy": healthy, "data_dir": str(settings.data_dir), "findings": findings}
        print_json({**shown, "repaired": repaired} if repair else shown)
    else:
        for line in repaired:
            print_result(f"repaired {line}")
        for finding in findings:
            _show(finding)
        print_result("all is well" if healthy else "there are problems")
    if not healthy:
        raise typer.Exit(1)


def _collect_findings(settings: "Settings") -> "list[Finding]":
    from app.composition import choose_composition
    from app.doctor.diagnosis import diagnose
    from app.doctor.findings import Level
    from app.doctor.installation import examine_folder, examine_schema, examine_services

    findings = examine_folder(settings)
    if any(finding.level is Level.PROBLEM for finding in findings):
        return findings
    findings.append(asyncio.run(examine_schema(settings)))
    if findings[-1].level is Level.PROBLEM:
        return findings  # opening the record would change it, or fail again

    async def all_of_it(container: "Container") -> "list[Finding]":
        return [finding async for finding in diagnose(container)]

    async def services(container: "Container") -> "list[Finding]":
        return [finding async for finding in examine_services(container)]

    exists = choose_composition(settings).exists()
    return findings + run_with_container(all_of_it if exists else services, settings)


def _repair_views(settings: "Settings") -> list[str]:
    """Repairs the views. Embedded, only the holder of the folder lock writes them: a running worker must be stopped."""
    from app.composition import choose_composition
    from app.doctor.diagnosis import repair_all

    async def work(container: "Container") -> list[str]:
        return [line async for line in repair_all(container)]

    composition = choose_composition(settings)
    if not composition.exists():
        return []
    with composition.lock_views():
        return run_with_container(work, settings)


def _show(finding: "Finding") -> None:
    print_result(f"{finding.level:<8} {finding.subject}: {finding.detail}")
    if finding.remedy:
        print_result(f"{'':<8} → {finding.remedy}")
