"""Rate limits (token buckets), concurrency limits and recent usage per key; a key is a client network, for example."""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Mapping
from time import monotonic

USAGE_HALF_LIFE = 5.0  # seconds
MAX_KEYS = 50_000  # above this number, entries are dropped


class RateLimit:
    """A token bucket: bursts of up to `burst` actions, and `rate` actions per second in the long run."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self.tokens, self.updated = burst, monotonic()

    def take(self, count: float = 1) -> bool:
        """Return whether `count` actions are allowed now; if so, count them."""
        return self.reserve(count, 0.0) is not None

    def take_or_wait(self) -> float:
        """Count an action and return 0 if it is allowed now, else return the seconds until it is."""
        return 0.0 if self.take() else (1 - self.tokens) / self.rate

    def reserve(self, cost: float, max_wait: float) -> float | None:
        """Charge an action and return the seconds to wait before it.

        If the wait would exceed `max_wait` seconds, charge nothing and return None.
        """
        now = monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.updated) * self.rate)
        self.updated = now
        missing = max(0.0, cost - self.tokens)
        if missing > max_wait * self.rate:
            return None
        self.tokens -= cost
        return missing and missing / self.rate

    def spend(self, cost: float) -> None:
        """Charge a cost that was not known when `reserve` was called."""
        self.tokens -= cost


class RateLimits:
    """A `RateLimit` per key."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self._limits: OrderedDict[str, RateLimit] = OrderedDict()

    def get(self, key: str) -> RateLimit:
        """Return the limit of a key; create it if necessary."""
        limit = self._limits.pop(key, None) or RateLimit(self.burst, self.rate)
        self._limits[key] = limit
        while len(self._limits) > MAX_KEYS:
            self._limits.popitem(last=False)
        return limit

    def take(self, key: str) -> bool:
        """Return whether one more action of a key is allowed now; if so, count it."""
        return self.get(key).take()

    def take_or_wait(self, key: str) -> float:
        """Count an action of a key and return 0 if it is allowed now, else return the seconds until it is."""
        return self.get(key).take_or_wait()


class ConcurrencyLimit:
    """Counts of concurrent actions per key; the limits are arguments of `acquire`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def acquire(self, keys: Mapping[str, int]) -> bool:
        """Count an action under all keys and return True, or count nothing and return False if a limit is reached."""
        if any(self.counts[key] >= limit for key, limit in keys.items()):
            return False
        self.counts.update(keys.keys())
        return True

    def release(self, keys: Mapping[str, int]) -> None:
        """End an action that was counted under these keys."""
        for key in keys:
            self.counts[key] -= 1
            if not self.counts[key]:
                del self.counts[key]


class RecentUsage:
    """The seconds of usage per key; they decay with the half-life `USAGE_HALF_LIFE`."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}

    def get(self, key: str, now: float) -> float:
        """Return the recent usage of a key, in seconds."""
        seconds, updated = self._used.get(key, (0.0, now))
        return float(seconds * 0.5 ** ((now - updated) / USAGE_HALF_LIFE))

    def add(self, key: str, seconds: float, now: float) -> None:
        """Add usage to a key; if there are too many keys, drop those with negligible usage."""
        self._used[key] = self.get(key, now) + seconds, now
        if len(self._used) > MAX_KEYS:
            self._used = {each: used for each, used in self._used.items() if self.get(each, now) > 0.01}


def to_client_network(address: str) -> str:
    """Return the client network of an address: an IPv4 address itself, or the /64 of an IPv6 address.

    A single client can own a whole /64.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped or parsed.is_loopback:
        return str(parsed.ipv4_mapped or parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
