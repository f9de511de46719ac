"""Two servers on one data folder: both answer, one worker works, and it is replaced when its server is killed."""

from pathlib import Path

import httpx
import pytest

from app.supervision.folder_lock import is_held, read_holder
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import run, serving
from tests.waiting import finish_job, wait_until


def index(client: httpx.Client, key: str) -> None:
    documents = [{"key": key, "text": f"Ada Lovelace wrote {key} in London."}]
    job = client.post("/v1/corpora/c/documents", json={"documents": documents}).json()["job"]["id"]
    assert finish_job(client, f"/v1/jobs/{job}")["state"] == "done"


@pytest.mark.slow
def test_two_servers_share_a_folder_and_its_worker(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (
        embedding_endpoint(dimension=16),
        serving(tmp_path, log="first.log") as first,
        serving(tmp_path, log="second.log") as second,
    ):
        refused = run(data, tmp_path, "serve", "--port", first.port)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
        assert str(first.port) in refused.stderr, "the port is taken"
        first.client.post("/v1/corpora", json={"name": "c"})
        index(second.client, "letters")
        found = first.client.post("/v1/corpora/c/search", json={"query": "Ada"}).json()["hits"]
        assert found[0]["document"]["key"] == "letters"
        before = read_holder(data)
        first.kill()
        index(second.client, "notes")
        wait_until(lambda: is_held(data))
        assert before is not None
        assert read_holder(data) is not None
        assert len(second.client.get("/v1/corpora/c/documents").json()["data"]) == 2
