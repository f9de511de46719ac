"""Prints for people what a restore has written."""

from typing import TYPE_CHECKING

from cli.output.console import counted, print_result, print_status

if TYPE_CHECKING:
    from app.archive import RestoreResult

__all__ = ["show_restored"]


def show_restored(one: "RestoreResult") -> None:
    there = f", {one.unchanged:,} unchanged" if one.unchanged else ""
    print_result(f"corpus {one.name}: {counted(one.documents, 'document')}, {counted(one.chunks, 'passage')}{there}")
    if one.missing_originals:
        print_status(
            f"corpus {one.name}: {one.missing_originals:,} originals are not in the file; searches do not need them"
        )
    for note in one.notes:
        print_status(f"corpus {one.name}: {note}")
