"""The metrics of the server, in the text format of Prometheus."""

import statistics
import sys

from awello.web.club_service import ClubService


def format_metrics(club: ClubService) -> str:
    """Format all metrics."""
    rows: list[tuple[str, str, str, float]] = []
    if memory := _peak_memory_bytes():
        rows.append(("peak_memory_bytes", "gauge", "peak memory use of the server process", memory))
    if club.database is not None:
        server, waits = club.server, sorted(club.server.store.write_seconds)
        rows += [
            ("club_connections", "gauge", "open connections to the club", club.open_connections.counts[""]),
            ("club_accounts_online", "gauge", "accounts online", len(server.online)),
            ("club_live_games", "gauge", "games in progress", len(server.live_games)),
            ("club_seeks", "gauge", "open seeks", len(server.lobby.seeks)),
            ("club_moves_total", "counter", "moves played, including passes", server.counts["moves"]),
            ("club_games_ended_total", "counter", "games ended, including aborted games", server.counts["games ended"]),
            ("club_write_failures_total", "counter", "failed writes to the database", server.store.write_failures),
        ]
        if len(waits) > 1:
            late = statistics.quantiles(waits, n=20)[-1]
            rows.append(
                ("club_write_seconds_p95", "gauge", "95th percentile of the duration of recent database writes", late)
            )
    lines = []
    for name, type, description, value in rows:
        lines += [f"# HELP awello_{name} {description}", f"# TYPE awello_{name} {type}", f"awello_{name} {value:g}"]
    return "\n".join(lines) + "\n"


def _peak_memory_bytes() -> int:
    """Return the peak memory use of this process in bytes; 0 if it is unknown, as on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    # ru_maxrss is in bytes on macOS and in KiB on other systems
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
