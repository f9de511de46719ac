"""Extraction of many documents at once: bounded, staged as soon as it is paid for, and counted per job."""
