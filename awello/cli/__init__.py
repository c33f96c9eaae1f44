"""The commands, one module each. Heavy imports are inside the functions, so that `--help` is fast."""
