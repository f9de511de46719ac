"""What every reasoner runs on: sessions, model calls, streaming, parallel nodes."""
