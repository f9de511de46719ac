"""`hopweave certificates …`, and `hopweave verify`, which needs no data folder: what was deleted, and that it is so."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import AsJson, CorpusName
from cli.output.console import counted, fields, print_json, print_result, print_status, replace_file, table
from cli.runtime import run_with_container
from core.errors import InvalidInput

if TYPE_CHECKING:
    from app.container import Container
    from core.record_policy.certificates import Chain


_group = typer.Typer(name="certificates", help="List and export certificates of deletions.", no_args_is_help=True)
_LONGEST_LINE = 1 << 26
"""Characters. A certificate has 67 for each content that was removed, so this is a million of them."""
_FIELDS = ("number", "kind", "certified_at", "documents", "passages", "found", "by")


def register(app: typer.Typer) -> None:
    app.add_typer(_group)
    app.command("verify")(verify)


@_group.command("list")
def list_certificates(corpus: CorpusName, as_json: AsJson = False) -> None:
    """List what was removed from the corpus of this name, and from deleted corpora that had it."""
    lines = _read_lines(corpus)
    if as_json:
        print_json({"data": [json.loads(line) for line in lines]})
        return
    table(_FIELDS, (_row(json.loads(line)["certificate"]) for line in lines))


def _row(certificate: dict[str, Any]) -> Sequence[object]:
    documents = certificate["documents"]
    return (
        certificate["number"],
        certificate["kind"],
        certificate["certified_at"],
        len(documents),
        certificate["removed"]["passages"],
        sum(certificate["found"].values()),
        ", ".join(sorted({document["by"] for document in documents})),
    )


@_group.command("export")
def export_certificates(
    corpus: CorpusName,
    output: Annotated[Path | None, typer.Option("-o", help="A file. Default: stdout.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Write the certificates of a corpus, a line of JSON each, for `hopweave verify`."""
    if as_json and output is None:
        raise InvalidInput("--json describes the written file: name it with -o")
    lines = _read_lines(corpus)
    content = "".join(f"{line}\n" for line in lines).encode()
    if output is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    written = replace_file(output, lambda file: file.write(content))
    if as_json:
        print_json({"file": str(output), "certificates": len(lines), "bytes": written})
    else:
        print_status(f"{output}: {counted(len(lines), 'certificate')}")


def _read_lines(corpus: str) -> list[str]:
    async def work(container: "Container") -> tuple[list[str], int]:
        from app.services.certificates import list_all

        lines = [certificate.line async for certificate in list_all(container, corpus)]
        return lines, len(await container.record.certificates.list_removals())

    lines, pending = run_with_container(work)
    if pending:
        print_status(
            f"{counted(pending, 'removal')} not certified yet: a worker does that when it has deleted the rest"
        )
    return lines


@_group.command("keys")
def show_keys(corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show the public key of the signatures, and the secret key of a corpus' hashes.

    With the key of the hashes, who has a document can show that a certificate is about it (`hopweave verify`); and who
    guesses a document's key or content can see whether it was deleted.
    """

    async def work(container: "Container") -> list[dict[str, str]]:
        from app.services.certificates import read_keys

        found = await read_keys(container, corpus)
        return [{"chain": keys.chain, "public_key": keys.public_key, "hash_key": keys.hash_key.hex} for keys in found]

    found = run_with_container(work)
    if as_json:
        print_json({"data": found})
        return
    for keys in found:
        fields(keys)


def verify(
    files: Annotated[list[Path], typer.Argument(help="Files of `hopweave certificates export`.")],
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="HEX", help="A public key that may have signed; repeatable.", show_default=False),
    ] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHA256", help="A line that must be there, by its SHA-256; repeatable.", show_default=False
        ),
    ] = None,
    hash_key: Annotated[
        str | None, typer.Option(metavar="HEX", help="The key of the hashes, to find documents.", show_default=False)
    ] = None,
    document: Annotated[
        list[str] | None, typer.Option(help="A document's key to find; needs --hash-key.", show_default=False)
    ] = None,
    content: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="An original to find; needs --hash-key.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify certificates: the signatures, and that none was changed, moved or left out. Needs no data folder.

    Without --key, any key may have signed: compare the printed one with the one that you know. Without --head, the last
    certificates may be missing.
    """
    from core.record_policy.certificates import verify_lines

    if (document or content) and hash_key is None:
        raise InvalidInput("--document and --content need --hash-key; `hopweave certificates keys` prints it")
    lines = (line for file in files for line in _read_file(file))
    chains = verify_lines(lines, keys=key or (), heads=head or ())
    wanted = _hash_wanted(hash_key, document or (), content or ()) if hash_key is not None else {}
    found = {name: _find(chains, hash) for name, hash in wanted.items()}
    if as_json:
        shown = [
            {
                "chain": c.id,
                "corpus": c.corpus,
                "certificates": len(c.certificates),
                "keys": sorted(c.keys),
                "head": c.head,
            }
            for c in chains
        ]
        print_json({"chains": shown, "found": found})
    else:
        for chain in chains:
            print_result(f"corpus {chain.corpus}: {counted(len(chain.certificates), 'certificate')}, none missing")
            fields({"chain": chain.id, "signed by": ", ".join(sorted(chain.keys)), "head": chain.head})
        for name, numbers in found.items():
            told = f"in certificate {', '.join(map(str, numbers))}" if numbers else "in no certificate"
            print_result(f"{name}: {told}")
    if any(not numbers for numbers in found.values()):
        raise typer.Exit(1)


def _read_file(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            while line := file.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise InvalidInput(f"{path} has a line of more than {_LONGEST_LINE} characters: no certificate")
                yield line
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error


def _hash_wanted(hash_key: str, documents: Iterable[str], contents: Iterable[Path]) -> dict[str, str]:
    """Returns the hashes that certificates would have, by what they are of."""
    from core.ids import content_hash
    from core.record_policy.certificates import HashKey

    try:
        bytes.fromhex(hash_key)
    except ValueError as error:
        raise InvalidInput("--hash-key is not in hexadecimal digits") from error
    hashes = HashKey(hash_key)
    try:
        read = {str(path): path.read_bytes() for path in contents}
    except OSError as error:
        raise InvalidInput(f"--content: {error}") from error
    return {
        **{key: hashes.hash_document(key) for key in documents},
        **{name: hashes.hash_content(content_hash(content)) for name, content in read.items()},
    }


def _find(chains: "Iterable[Chain]", hash: str) -> list[int]:
    """Returns the numbers of the certificates that name a document or a content."""
    return [
        certificate["number"]
        for chain in chains
        for certificate in chain.certificates
        if any(hash in (document["document"], *document["contents"]) for document in certificate["documents"])
    ]
