"""Output of the commands: tables, progress, plans, results."""
