"""Attachments of mails over HTTP: documents of their own that come, change and go with their mail."""

import base64
from email.message import EmailMessage
from typing import Any

from indexer.loading.examples import make_msg
from tests.integration.api.conftest import Server
from tests.integration.api.test_uploads import upload

_DOCUMENTS = "/v1/corpora/people/documents"


def make_mail(*names: str, inner: EmailMessage | None = None) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Ada <ada@example.org>", "The lantern"
    mail.set_content("See the files.")
    for name in names:
        mail.add_attachment(f"The {name} is in the harbour.".encode(), "text", "plain", filename=name)
    if inner is not None:
        mail.add_attachment(inner)
    return mail


async def listed(server: Server) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in (await server.client.get(_DOCUMENTS)).json()["data"]}


async def test_attachments_come_change_and_go_with_their_mail(server: Server) -> None:
    await server.corpus()
    first = make_mail("a.txt", "b.txt", "photo.png", inner=make_mail("deep.txt"))
    answer = await upload(server, ("m.eml", first.as_bytes()))
    assert answer.status_code == 202, answer.text
    await server.work("people")
    documents = await listed(server)
    below = "m.eml/attachments/"
    inner = f"{below}The lantern.eml"
    expected = {"m.eml", f"{below}a.txt", f"{below}b.txt", inner, f"{inner}/attachments/deep.txt"}
    assert set(documents) == expected
    assert {one["state"] for one in documents.values()} == {"indexed"}
    assert documents[f"{below}a.txt"]["title"] == "a.txt (attached to: The lantern)"
    assert documents[f"{below}a.txt"]["metadata"]["attachment_of"] == "m.eml"
    assert "photo.png" in documents["m.eml"]["metadata"]["loader_notes"][0]

    again = (await upload(server, ("m.eml", first.as_bytes()))).json()
    assert all(one["unchanged"] for one in again["documents"])
    changed = base64.b64encode(make_mail("a.txt", "c.txt").as_bytes()).decode()
    await server.ingest({"key": "m.eml", "media_type": "message/rfc822", "content": changed})
    assert set(await listed(server)) == {"m.eml", f"{below}a.txt", f"{below}c.txt"}

    other = {"key": f"{below}note", "text": "It was never attached."}
    await server.ingest(other)
    await server.client.post(f"{_DOCUMENTS}/delete", json={"keys": ["m.eml"]})
    await server.work("people")
    assert set(await listed(server)) == {other["key"]}


def make_mailbox(*mails: EmailMessage) -> bytes:
    return b"".join(b"From ada@example.org Mon Apr  1 10:00:00 2024\n" + mail.as_bytes() + b"\n\n" for mail in mails)


async def test_attachments_of_a_mailbox_come_change_and_go_with_it(server: Server) -> None:
    await server.corpus()
    first, second = make_mail("a.txt", "photo.png"), make_mail("a.txt", inner=make_mail("deep.txt"))
    second.replace_header("Subject", "Oil")
    assert (await upload(server, ("in.mbox", make_mailbox(first, second)))).status_code == 202
    await server.work("people")
    below = "in.mbox/attachments/"
    inner = f"{below}Oil/The lantern.eml"
    of_second = {f"{below}Oil/a.txt", inner, f"{inner}/attachments/deep.txt"}
    documents = await listed(server)
    assert set(documents) == {"in.mbox", f"{below}The lantern/a.txt", *of_second}
    assert {one["state"] for one in documents.values()} == {"indexed"}
    assert documents[f"{below}Oil/a.txt"]["title"] == "a.txt (attached to: Oil)"
    assert documents[f"{below}Oil/a.txt"]["metadata"]["mail_subject"] == "Oil"
    assert "photo.png" in documents["in.mbox"]["metadata"]["loader_notes"][0]

    await upload(server, ("in.mbox", make_mailbox(second)))
    await server.work("people")
    assert set(await listed(server)) == {"in.mbox", *of_second}, "those of a mail that is gone are gone"
    await server.client.post(f"{_DOCUMENTS}/delete", json={"filter": {"mails": 1}})
    await server.work("people")
    assert not await listed(server)


async def test_a_mail_that_is_skipped_brings_no_attachments(server: Server) -> None:
    await server.corpus()
    await upload(server, ("m.eml", make_mail("a.txt").as_bytes()))
    await server.work("people")
    before = set(await listed(server))
    changed = make_mail("a.txt", "b.txt", inner=make_mail("deep.txt")).as_bytes()
    answer = await upload(server, ("m.eml", changed), ("n.eml", make_mail("c.txt").as_bytes()), on_conflict="skip")
    assert answer.status_code == 202, answer.text
    await server.work("people")
    assert set(await listed(server)) == before | {"n.eml", "n.eml/attachments/c.txt"}


async def test_a_mail_that_cannot_be_read_fails_with_its_reason_and_keeps_its_attachments(server: Server) -> None:
    await server.corpus()
    good = make_msg({0x0037: "Lantern", 0x1000: "See."}, {"a.txt": b"In the harbour.", "bad.pdf": b"%PDF-1.4 no"})
    assert (await upload(server, ("m.msg", good))).status_code == 202
    await server.work("people")
    documents = await listed(server)
    assert documents["m.msg"]["state"] == documents["m.msg/attachments/a.txt"]["state"] == "indexed"
    assert documents["m.msg/attachments/bad.pdf"]["state"] == "failed", "and its mail is not lost"
    assert (await upload(server, ("m.msg", good[:1000]))).status_code == 202
    await server.work("people")
    documents = await listed(server)
    assert documents["m.msg"]["state"] == "failed"
    assert "'m.msg'" in documents["m.msg"]["reason"]
    assert documents["m.msg/attachments/a.txt"]["state"] == "indexed"
