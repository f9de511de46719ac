"""The routes: one router for each noun of the API."""
