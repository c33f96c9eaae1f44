"""File formats: pure text and bytes in, records out, and back."""
