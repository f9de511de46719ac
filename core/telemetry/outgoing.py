"""The headers by which the request's id and trace follow into calls of other servers."""

from core.telemetry import spans
from core.telemetry.request_ids import HEADER, current_request_id

__all__ = ["outgoing_headers"]


def outgoing_headers() -> dict[str, str]:
    """Returns the headers for a call that is made for the request that is being served."""
    request_id = current_request_id()
    return {**({HEADER: request_id} if request_id else {}), **spans.outgoing_headers()}
