"""How work runs: processes, threads that compute, limits of one piece of work, and what is kept for the next."""
