"""The broker, and the notifier that tells workers of work."""
