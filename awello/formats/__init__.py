"""File formats of games and positions: convert text or bytes to records, and records to text or bytes."""
