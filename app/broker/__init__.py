"""The broker and the notifiers, which tell workers of new work by Celery messages."""
