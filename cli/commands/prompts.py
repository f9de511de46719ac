"""`hopweave prompts …`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_status, table

_group = typer.Typer(name="prompts", help="List and export the prompts of language models.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("list")
def list_prompts(as_json: AsJson = False) -> None:
    """List all prompts with their variables, and the files that replace them (`HOPWEAVE_PROMPTS_DIR`)."""
    from app.container import PROMPT_PACKAGES, find_prompt_folder
    from core.prompting.prompts import read_own_prompts
    from core.settings import read_settings

    folder = find_prompt_folder(read_settings().prompts_dir)
    rows = [
        (name, sorted(prompt.variables), _find_replacement(folder, name))
        for name, prompt in read_own_prompts(PROMPT_PACKAGES).items()
    ]
    if as_json:
        print_json({"data": [dict(zip(("name", "variables", "replaced_by"), row, strict=True)) for row in rows]})
    else:
        table(("prompt", "variables", "replaced by"), ((name, ", ".join(names), file) for name, names, file in rows))


def _find_replacement(folder: Path | None, name: str) -> str | None:
    """Returns the file that replaces a prompt. It is not read: who corrects a wrong one needs the list."""
    file = folder / f"{name}.md" if folder else None
    return str(file) if file and file.exists() else None


@_group.command("export")
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; it is created.")],
    published: Annotated[bool, typer.Option("--published", help="Write the prompts of the set `published`.")] = False,
) -> None:
    """Write all prompts into a folder. Change those that you want to replace and delete the others. Then give the
    folder as `--prompts DIR` or `HOPWEAVE_PROMPTS_DIR`.
    """
    from app.container import PROMPT_PACKAGES, PUBLISHED, find_prompt_folder
    from core.prompting.prompts import export_prompts

    files = export_prompts(folder, PROMPT_PACKAGES, find_prompt_folder(Path(PUBLISHED)) if published else None)
    print_status(f"{len(files)} prompts were written into {folder}")
