"""Worker processes as their parents see them: started, replaced and stopped; and the lock of a data folder."""
