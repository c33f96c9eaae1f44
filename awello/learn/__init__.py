"""Players that learn: one readable loop each."""
