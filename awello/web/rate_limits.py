"""What somebody may do: how often, by a bucket that fills with time, and how many times at once, by a turnstile."""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Mapping
from time import monotonic

USAGE_HALF_LIFE = 5.0  # seconds after which what was used counts half
MAX_KEYS = 50_000  # buckets that are remembered; the ones that were used longest ago are forgotten


class RateLimit:
    """So many acts at once, and so many a second in the long run."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self.tokens, self.updated = burst, monotonic()

    def take(self, count: float = 1) -> bool:
        """Whether so many more acts are allowed now; if so, they are counted."""
        return self.reserve(count, 0.0) is not None

    def reserve(self, cost: float, max_wait: float) -> float | None:
        """Count an act and give the seconds to wait before it; None, and it is not counted, if that is too long."""
        now = monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.updated) * self.rate)
        self.updated = now
        missing = max(0.0, cost - self.tokens)
        if missing > max_wait * self.rate:
            return None
        self.tokens -= cost
        return missing and missing / self.rate

    def spend(self, cost: float) -> None:
        """Count what an act has cost beyond what was known before it."""
        self.tokens -= cost


class RateLimits:
    """A bucket for each key."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self._limits: OrderedDict[str, RateLimit] = OrderedDict()

    def get(self, key: str) -> RateLimit:
        """The bucket of a key."""
        limit = self._limits.pop(key, None) or RateLimit(self.burst, self.rate)
        self._limits[key] = limit
        while len(self._limits) > MAX_KEYS:
            self._limits.popitem(last=False)
        return limit

    def take(self, key: str) -> bool:
        """Whether one more act of a key is allowed now."""
        return self.get(key).take()


class ConcurrencyLimit:
    """So many at once under each key; the limits come with the keys."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def acquire(self, keys: Mapping[str, int]) -> bool:
        """Count one more under some keys, each with its limit; False if one of them is reached."""
        if any(self.counts[key] >= limit for key, limit in keys.items()):
            return False
        self.counts.update(keys.keys())
        return True

    def release(self, keys: Mapping[str, int]) -> None:
        """One who entered is gone."""
        for key in keys:
            self.counts[key] -= 1
            if not self.counts[key]:
                del self.counts[key]


class RecentUsage:
    """The seconds that each key has used something, of which older ones count less and less."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}

    def get(self, key: str, now: float) -> float:
        """What a key has used lately, in seconds."""
        seconds, updated = self._used.get(key, (0.0, now))
        return float(seconds * 0.5 ** ((now - updated) / USAGE_HALF_LIFE))

    def add(self, key: str, seconds: float, now: float) -> None:
        """Charge a key; those that have used next to nothing are forgotten."""
        self._used[key] = self.get(key, now) + seconds, now
        if len(self._used) > MAX_KEYS:
            self._used = {each: used for each, used in self._used.items() if self.get(each, now) > 0.01}


def network_of(address: str) -> str:
    """Where an address counts: who has one of IPv6 has as many beside it as they want."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped or found.is_loopback:
        return str(found.ipv4_mapped or found)
    return str(ipaddress.ip_network((found, 64), strict=False))
