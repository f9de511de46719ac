"""The parts of the server that are watched: requests, connections and the event loop."""
