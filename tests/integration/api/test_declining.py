"""An abstention of `extractive` cites the nearest passages on every front end, and is not verified."""

from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import wait
from tests.integration.api.test_python_api import connected

PATH = "/v1/corpora/people"
QUESTION = "What did Charles Babbage design in London?"
DECLINING = "extractive:min_probability=1"
BODY = {"question": QUESTION, "reasoner": DECLINING}
START = "No sentence here surely answers this. Nearest:\n\n"


async def test_over_http_stored_from_python_and_in_a_chat(people: Server) -> None:
    asked = await people.client.post(f"{PATH}/ask", json={**BODY, "verify": True})
    assert asked.status_code == 200, asked.text
    said = asked.json()
    assert (said["abstained"], said["support"], said["verification_cost"]) == (True, "none", None)
    assert said["answer"].startswith(START)
    assert 1 <= len(said["citations"]) <= 3
    assert said["steps"][0]["answer"] == ""
    made = await people.client.post(f"{PATH}/questions", json=BODY)
    shown = await wait(people, made.json()["id"])
    assert shown["answer"]["abstained"]
    assert shown["answer"]["citations"][0]["quote"] in shown["answer"]["answer"]
    async with connected(people) as client:
        answer = await client.ask("people", QUESTION, reasoner=DECLINING)
    assert (answer.abstained, answer.support) == (True, "none")
    assert answer.citations
    for stream in (False, True):
        body = {"model": f"people:{DECLINING}", "messages": [{"role": "user", "content": QUESTION}], "stream": stream}
        chatted = await people.client.post("/v1/chat/completions", json=body)
        assert chatted.status_code == 200, chatted.text
        assert "Nearest:\\n\\n" in chatted.text
        assert "**Sources**" in chatted.text
