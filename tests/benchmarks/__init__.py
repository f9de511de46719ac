"""Measurements. numpy multiplies as in Hopweave's own processes, so that searches in this process are comparable."""

from hopweave._start import limit_threads

limit_threads()
