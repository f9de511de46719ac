"""Commands for those who operate Hopweave: serve, back up, migrate, diagnose."""
