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
        self.level, self.moment = burst, monotonic()

    def take(self, count: float = 1) -> bool:
        """Whether so many more acts are allowed now; if so, they are counted."""
        return self.reserve(count, 0.0) is not None

    def reserve(self, cost: float, patience: float) -> float | None:
        """Count an act and give the seconds to wait before it; None, and it is not counted, if that is too long."""
        now = monotonic()
        self.level = min(self.burst, self.level + (now - self.moment) * self.rate)
        self.moment = now
        lacking = max(0.0, cost - self.level)
        if lacking > patience * self.rate:
            return None
        self.level -= cost
        return lacking and lacking / self.rate

    def spend(self, cost: float) -> None:
        """Count what an act has cost beyond what was known before it."""
        self.level -= cost


class RateLimits:
    """A bucket for each key."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self._buckets: OrderedDict[str, RateLimit] = OrderedDict()

    def find(self, key: str) -> RateLimit:
        """The bucket of a key."""
        bucket = self._buckets.pop(key, None) or RateLimit(self.burst, self.rate)
        self._buckets[key] = bucket
        while len(self._buckets) > MAX_KEYS:
            self._buckets.popitem(last=False)
        return bucket

    def take(self, key: str) -> bool:
        """Whether one more act of a key is allowed now."""
        return self.find(key).take()


class ConcurrencyLimit:
    """So many at once under each key; the limits come with the keys."""

    def __init__(self) -> None:
        self.inside: Counter[str] = Counter()

    def enter(self, keys: Mapping[str, int]) -> bool:
        """Count one more under some keys, each with its limit; False if one of them is reached."""
        if any(self.inside[key] >= most for key, most in keys.items()):
            return False
        self.inside.update(keys.keys())
        return True

    def leave(self, keys: Mapping[str, int]) -> None:
        """One who entered is gone."""
        for key in keys:
            self.inside[key] -= 1
            if not self.inside[key]:
                del self.inside[key]


class RecentUsage:
    """The seconds that each key has used something, of which older ones count less and less."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}

    def find(self, key: str, now: float) -> float:
        """What a key has used lately, in seconds."""
        seconds, moment = self._used.get(key, (0.0, now))
        return float(seconds * 0.5 ** ((now - moment) / USAGE_HALF_LIFE))

    def add(self, key: str, seconds: float, now: float) -> None:
        """Charge a key; those that have used next to nothing are forgotten."""
        self._used[key] = self.find(key, now) + seconds, now
        if len(self._used) > MAX_KEYS:
            self._used = {each: used for each, used in self._used.items() if self.find(each, now) > 0.01}


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
