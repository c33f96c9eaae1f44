"""How often somebody may do something: a bucket that fills with time, for each account, address or connection."""

from collections import OrderedDict
from time import monotonic

MOST_KEYS = 50_000  # buckets that are remembered; the ones that were used longest ago are forgotten


class Bucket:
    """So many acts at once, and so many a second in the long run."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self.level, self.moment = burst, monotonic()

    def take(self) -> bool:
        """Whether one more act is allowed now; if so, it is counted."""
        now = monotonic()
        self.level = min(self.burst, self.level + (now - self.moment) * self.rate)
        self.moment = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


class Buckets:
    """A bucket for each key."""

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str) -> bool:
        """Whether one more act of a key is allowed now."""
        bucket = self._buckets.pop(key, None) or Bucket(self.burst, self.rate)
        self._buckets[key] = bucket
        while len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        return bucket.take()
