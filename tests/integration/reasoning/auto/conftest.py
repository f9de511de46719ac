"""A desk over documents with a chain of three hops, and with two sides of a comparison."""

import pytest

from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer

DOCUMENTS = {
    "fish": ("Rumble Fish", "Rumble Fish is a novel by S. E. Hinton about two brothers."),
    "hinton": ("S. E. Hinton", "S. E. Hinton wrote the coming-of-age novel The Outsiders while at school."),
    "outsiders": ("The Outsiders", "The Outsiders was published in 1967 by Viking Press."),
    "viking": ("Viking Press", "Viking Press is a publisher founded in 1925 in New York."),
    "oder": ("Oder", "The Oder is a river. It is 854 km long."),
    "ebro": ("Ebro", "The Ebro is a river. It is 930 km long."),
}


@pytest.fixture
def desk(server: ChatServer) -> ReasoningDesk:
    return ReasoningDesk(server, DOCUMENTS)
