"""What surrounds all requests, whatever they ask: time limits, bodies, headers of responses, unexpected errors."""
