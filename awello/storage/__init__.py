"""SQLite and PostgreSQL databases: URLs, connections, locks and migrations."""
