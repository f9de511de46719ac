"""How work runs: processes, threads that compute, and limits of one piece of work."""
