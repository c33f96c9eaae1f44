"""Databases on SQLite and PostgreSQL: URLs, connections, locks and migrations."""
