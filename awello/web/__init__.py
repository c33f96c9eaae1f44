"""The page, its HTTP API and its WebSocket connections."""
