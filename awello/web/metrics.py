"""How the server fares, in the text form that Prometheus reads."""

import statistics
import sys

from awello.web.club_service import ClubService


def format_metrics(house: ClubService) -> str:
    """A line for each number, with what it means."""
    rows: list[tuple[str, str, str, float]] = []
    if memory := _peak_memory_bytes():
        rows.append(("memory_bytes", "gauge", "the most memory so far", memory))
    if house.place is not None:
        hall, waits = house.hall, sorted(house.hall.store.waits)
        rows += [
            ("club_connections", "gauge", "connections to the club", house.connections.counts[""]),
            ("club_members", "gauge", "accounts that are connected", len(hall.present)),
            ("club_games", "gauge", "games that are played", len(hall.seats)),
            ("club_seeks", "gauge", "games that are sought", len(hall.lobby.seeks)),
            ("club_moves_total", "counter", "moves played, passes counted", hall.counts["moves"]),
            ("club_games_ended_total", "counter", "games that have ended", hall.counts["games ended"]),
            ("club_storage_failures_total", "counter", "acts that were not written", hall.store.failures),
        ]
        if len(waits) > 1:
            late = statistics.quantiles(waits, n=20)[-1]
            rows.append(("club_write_seconds_p95", "gauge", "until an act is written, of the last ones", late))
    lines = []
    for name, kind, meaning, value in rows:
        lines += [f"# HELP awello_{name} {meaning}", f"# TYPE awello_{name} {kind}", f"awello_{name} {value:g}"]
    return "\n".join(lines) + "\n"


def _peak_memory_bytes() -> int:
    """In bytes; systems count in different units, and on Windows it is 0, which means unknown."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
