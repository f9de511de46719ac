"""The worker process. `worker_process.py` is its entry point; `app.supervision` starts it."""
