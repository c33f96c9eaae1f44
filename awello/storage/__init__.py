"""Databases on SQLite and PostgreSQL: addresses, connections, locks and migrations."""
