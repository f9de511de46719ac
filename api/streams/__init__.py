"""Responses that are sent while their work runs: answers with their trace, the progress of jobs."""
