"""How often passwords may be tried, so that guessing is slow and cannot lock anybody out.

Tries count by account and network.  A device that has logged into an account before (a cookie tells) has a limit of its
own there, and so has a network.  All other tries count by network, by account and together as well: that slows down
guesses from many networks, and does not concern devices and networks that are known.
"""

import re
import secrets
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from awello.web.rate_limits import RateLimits, network_of
from awello.web.request_guard import address_of

DEVICE_COOKIE = "awello_device"  # which stays when somebody logs out
PAIR_RATE = (10, 1 / 6)  # tries of an account from a network or a known device: at once, and per second
NETWORK_RATE, NAME_RATE, UNKNOWN_ORIGIN_RATE = (40, 1 / 3), (50, 1 / 2), (100, 5)  # from where nobody has logged in


@dataclass(frozen=True)
class Origin:
    """Where a request comes from."""

    address: str
    network: str
    device: str
    """The secret in the cookie of the device, a new one if it has none."""


def read_origin(request: HTTPConnection) -> Origin:
    """Where a request comes from."""
    address, device = address_of(request), request.cookies.get(DEVICE_COOKIE, "")
    if not re.fullmatch(r"[\w-]{43}", device, re.ASCII):
        device = secrets.token_urlsafe(32)
    return Origin(address, network_of(address), device)


class LoginLimits:
    """How often passwords may be tried."""

    def __init__(self) -> None:
        self.pair_limits, self.network_limits = RateLimits(*PAIR_RATE), RateLimits(*NETWORK_RATE)
        self.name_limits, self.unknown_origin_limits = RateLimits(*NAME_RATE), RateLimits(*UNKNOWN_ORIGIN_RATE)

    def admit_unknown(self) -> bool:
        """Whether one more password of somebody who is not known may be hashed."""
        return self.unknown_origin_limits.take("")

    def admit(self, name: str, origin: Origin, recognised: str | None) -> bool:
        """Whether a password may be tried; `recognised` is `device` or `network` if the account is known there."""
        name = name.lower()
        if recognised:
            return self.pair_limits.take(f"{name} {origin.device if recognised == 'device' else origin.network}")
        return (
            self.network_limits.take(origin.network)
            and self.pair_limits.take(f"{name} {origin.network}")
            and self.name_limits.take(name)
            and self.admit_unknown()
        )
