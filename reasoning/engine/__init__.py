"""The parts that every reasoner runs on: backends, the session of a question, model calls, answers and streaming."""
