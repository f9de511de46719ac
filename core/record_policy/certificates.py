"""Certificates of deletions: their form, their signatures and chains, and the check of a file of them.

Open this module for what a certificate says and what makes it valid. A certificate is one line of JSON,
`{"certificate": {…}, "signature": "…"}`, in one form (`dump`), so that each changed byte is noticed. `certificate` has

- `chain`, `number` (from 1), and `previous`, the SHA-256 of the line before in its chain ('' for the first one),
- `key`, the public key of the Ed25519 signature over `dump(certificate)`,
- what was removed. Keys of documents and contents are HMACs (`HashKey`): whoever has these and the key of the HMACs can
  show that they were meant, and nobody else can guess them.

Ports and stores are in `core.ports.record.certificates`; the indexer makes certificates, as it deletes.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidInput


def dump(value: Any) -> str:
    """Returns JSON in the form of certificates: sorted keys, no spaces, ASCII alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_line(line: str) -> str:
    """Returns the SHA-256 of a certificate's line, by which the next certificate names it."""
    return hashlib.sha256(line.encode()).hexdigest()


@dataclass(frozen=True)
class HashKey:
    """The key of the HMACs of one chain, as hexadecimal digits. It can be given away without the key that signs."""

    hex: str

    def hash_document(self, key: str) -> str:
        """Returns the HMAC of a document's key."""
        return self._hash(f"document:{key}")

    def hash_content(self, content_hash: str) -> str:
        """Returns the HMAC of the SHA-256 (`core.ids.content_hash`) of an original."""
        return self._hash(f"content:{content_hash}")

    def _hash(self, text: str) -> str:
        return hmac.new(bytes.fromhex(self.hex), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Secret:
    """The secret of an installation, from which the key that signs and the keys of HMACs are derived."""

    secret: bytes = field(repr=False)

    def hash_key(self, chain: str) -> HashKey:
        """Returns the key of the HMACs of a chain."""
        return HashKey(self._derive(f"hopweave certificates: hashes of {chain}").hex())

    def public_key(self) -> str:
        """Returns the public key of signatures, as 64 hexadecimal digits."""
        return str(self._private_key().public_key().public_bytes_raw().hex())

    def sign(self, message: str) -> str:
        """Returns the Ed25519 signature, as 128 hexadecimal digits."""
        return str(self._private_key().sign(message.encode()).hex())

    def _private_key(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # few processes need it

        return Ed25519PrivateKey.from_private_bytes(self._derive("hopweave certificates: signature"))

    def _derive(self, purpose: str) -> bytes:
        return hmac.new(self.secret, purpose.encode(), hashlib.sha256).digest()


def sign(secret: Secret, body: Mapping[str, Any], *, chain: str, number: int, previous: str) -> str:
    """Returns the line of a certificate that says `body`, as the `number`th one of its chain."""
    certificate = {
        **body,
        "version": 1,
        "chain": chain,
        "number": number,
        "previous": previous,
        "key": secret.public_key(),
    }
    return dump({"certificate": certificate, "signature": secret.sign(dump(certificate))})


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A chain that was verified. `keys` are the public keys that signed, `head` is the SHA-256 of the last line."""

    id: str
    corpus: str
    certificates: Sequence[Mapping[str, Any]]
    keys: frozenset[str]
    head: str


def verify_lines(lines: Iterable[str], *, keys: Iterable[str] = (), heads: Iterable[str] = ()) -> list[Chain]:
    """Returns the chains of some lines, each whole from its first certificate on.

    Lines of several files may follow each other, and a line may come twice. `keys`: the public keys that may sign, any
    key if empty. `heads` are digests of lines that must be there. Raises `InvalidInput`, with the place, for a line
    that was changed, moved, left out, or signed by another key; and for a fork: two certificates with one number.
    """
    found: dict[str, dict[int, str]] = {}
    trusted, wanted = frozenset(keys), set(heads)
    for place, text in enumerate(lines, start=1):
        line = text.rstrip("\n")
        certificate = _check_line(line, f"line {place}", trusted)
        chain = found.setdefault(certificate["chain"], {})
        if chain.setdefault(certificate["number"], line) != line:
            raise InvalidInput(
                f"line {place}: another certificate has the number {certificate['number']} of the chain "
                f"{certificate['chain']}: the chain forks, as when an older copy of the data was put back"
            )
        wanted.discard(digest_line(line))
    if wanted:
        raise InvalidInput(f"the certificate with the SHA-256 {min(wanted)} is missing")
    if not found:
        raise InvalidInput("there is no certificate")
    return [_check_chain(id, lines) for id, lines in sorted(found.items())]


_FIELDS = {
    "chain": str,
    "number": int,
    "previous": str,
    "key": str,
    "version": int,
    "corpus": str,
    "kind": str,
    "documents": list,
}
_SIGNATURE, _KEY = re.compile("[0-9a-f]{128}"), re.compile("[0-9a-f]{64}")


def _check_line(line: str, place: str, trusted: frozenset[str]) -> Mapping[str, Any]:
    """Returns the certificate of a line."""
    try:
        whole = json.loads(line)
        is_same = dump(whole) == line
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{place} is no certificate: {error}") from error
    if not is_same or not isinstance(whole, dict) or whole.keys() != {"certificate", "signature"}:
        raise InvalidInput(f"{place} is no certificate in the form in which Hopweave writes it")
    certificate, signature = whole["certificate"], whole["signature"]
    if not isinstance(certificate, dict) or not _has_fields(certificate):
        raise InvalidInput(f"{place} is no certificate: a field is missing or has another type")
    if certificate["version"] != 1:
        raise InvalidInput(f"{place} has the version {certificate['version']}, and this release reads 1")
    if trusted and certificate["key"] not in trusted:
        raise InvalidInput(f"{place} is signed by the key {certificate['key']}, which is not among those given")
    _check_signature(certificate, signature, place)
    return certificate


def _has_fields(certificate: Mapping[str, Any]) -> bool:
    return all(type(certificate.get(name)) is t for name, t in _FIELDS.items()) and all(
        isinstance(document, dict)
        and isinstance(document.get("document"), str)
        and isinstance(document.get("contents"), list)
        and all(isinstance(content, str) for content in document["contents"])
        for document in certificate["documents"]
    )


def _check_signature(certificate: Mapping[str, Any], signature: object, place: str) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    # bytes.fromhex also reads capitals and spaces, with which another line would have the same signature.
    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature) or not _KEY.fullmatch(certificate["key"]):
        raise InvalidInput(f"{place}: the signature is not written as Hopweave writes it: the certificate was changed")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(certificate["key"]))
        public.verify(bytes.fromhex(signature), dump(certificate).encode())
    except (ValueError, InvalidSignature) as error:
        raise InvalidInput(f"{place}: the signature does not fit: the certificate was changed") from error


def _check_chain(id: str, lines: Mapping[int, str]) -> Chain:
    previous = ""
    certificates = []
    for number in range(1, len(lines) + 1):
        line = lines.get(number)
        if line is None:
            raise InvalidInput(f"chain {id}: certificate {number} is missing")
        certificate = json.loads(line)["certificate"]
        if certificate["previous"] != previous:
            raise InvalidInput(f"chain {id}: certificate {number} does not follow the one before it")
        previous = digest_line(line)
        certificates.append(certificate)
    return Chain(
        id=id,
        corpus=certificates[-1]["corpus"],
        certificates=certificates,
        keys=frozenset(certificate["key"] for certificate in certificates),
        head=previous,
    )
