"""What can be watched from outside: metrics, spans, request ids and events of logs.

Nothing here counts or exports anything. A process that is watched installs a meter and a tracer (`app.telemetry`); in
any other process, such as a short command, all of it costs next to nothing.
"""
