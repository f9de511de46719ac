"""How well cells of tables are found and named: made tables of ten kinds of file, and the figures of real reports."""
