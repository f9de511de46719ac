"""What the commands print: tables, progress, plans, results."""
