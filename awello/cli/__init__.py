"""The commands, one module each. Each module is imported only for its command, so that `awello --help` is fast."""
