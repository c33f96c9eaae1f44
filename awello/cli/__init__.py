"""The commands: one file a command, thin.  Heavy imports stand inside the functions, so that --help is quick."""
