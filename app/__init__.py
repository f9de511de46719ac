"""The application: compositions, container, workers and their supervision, and the use cases that entry points call."""
