"""Metrics of the server in the text format of Prometheus."""

import statistics
import sys

from awello.web.club_service import ClubService


def format_metrics(house: ClubService) -> str:
    """Format all metrics."""
    rows: list[tuple[str, str, str, float]] = []
    if memory := _peak_memory_bytes():
        rows.append(("memory_bytes", "gauge", "peak memory use of the server process", memory))
    if house.place is not None:
        hall, waits = house.hall, sorted(house.hall.store.waits)
        rows += [
            ("club_connections", "gauge", "open connections to the club", house.connections.counts[""]),
            ("club_members", "gauge", "accounts online", len(hall.present)),
            ("club_games", "gauge", "games in progress", len(hall.seats)),
            ("club_seeks", "gauge", "open seeks", len(hall.lobby.seeks)),
            ("club_moves_total", "counter", "moves played, including passes", hall.counts["moves"]),
            ("club_games_ended_total", "counter", "games finished", hall.counts["games ended"]),
            ("club_storage_failures_total", "counter", "failed writes to the database", hall.store.failures),
        ]
        if len(waits) > 1:
            late = statistics.quantiles(waits, n=20)[-1]
            rows.append(("club_write_seconds_p95", "gauge", "95th percentile of the time of recent writes", late))
    lines = []
    for name, kind, meaning, value in rows:
        lines += [f"# HELP awello_{name} {meaning}", f"# TYPE awello_{name} {kind}", f"awello_{name} {value:g}"]
    return "\n".join(lines) + "\n"


def _peak_memory_bytes() -> int:
    """Peak memory use in bytes, which systems report in different units; 0 if unknown, as on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
