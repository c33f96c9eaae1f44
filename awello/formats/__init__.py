"""File formats: convert between text or bytes and records."""
