"""The view of certificates: what each says, the file that is saved, and how it is reached."""

import json
import re

import pytest
from playwright.sync_api import expect

from core.record_policy.certificates import verify_lines
from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.live import Live, wait_until
from tests.e2e.page.watch import assert_accessible

pytestmark = pytest.mark.slow


def test_certificates_are_read_and_saved(open_page: OpenPage, own_corpus: str, live: Live) -> None:
    page = open_page(f"/c/{own_corpus}/certificates")
    expect(page.get_by_role("heading", name="No certificates yet")).to_be_visible()
    assert_accessible(page, "no certificates")
    live.add(own_corpus, [{"key": "a", "text": "Ada wrote the minutes."}, {"key": "b", "text": "Bo kept the log."}])
    live.add(own_corpus, [{"key": "b", "text": "Bo kept the log of the ships."}])
    documents = f"/v1/corpora/{own_corpus}/documents"
    live.finish(live.client.post(f"{documents}/delete", json={"keys": ["a"]}).json()["job"]["id"])
    wait_until(lambda: len(live.get(f"/v1/corpora/{own_corpus}/certificates")["data"]) == 2)
    page.goto(f"/c/{own_corpus}/documents")
    page.get_by_role("link", name="Certificates of deletions").click()
    expect(page).to_have_url(re.compile(f"/c/{own_corpus}/certificates$"))
    expect(page.get_by_text("1 replaced")).to_be_visible()
    row = page.locator("details.job-line").filter(has_text="1 document deleted")
    row.locator("summary").first.click()
    expect(row).to_contain_text("nothing found afterwards")
    expect(row).to_contain_text("1 passages")
    row.get_by_text("1 document, by keyed hashes").click()
    assert_accessible(page, "certificates, one open")
    page.set_viewport_size({"width": 360, "height": 800})
    assert_accessible(page, "certificates, one open, on a telephone")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save all").click()
    [chain] = verify_lines(saving.value.path().read_text("utf-8").splitlines())
    assert [certificate["kind"] for certificate in chain.certificates] == ["documents", "documents"]
    with page.expect_download() as saving:
        row.get_by_role("button", name="Save this one").click()
    saved = json.loads(saving.value.path().read_text("utf-8"))["certificate"]
    assert saved == chain.certificates[1]
