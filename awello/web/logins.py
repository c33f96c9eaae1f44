"""Rate limits on login attempts: they slow down guessing without locking users out.

Each device (identified by a cookie) and each client network from which a user has already logged in to an account has
its own limit for this account.  Attempts from unknown origins are limited per client network, per account and in total,
which slows down guesses from many client networks without affecting known devices and client networks.
"""

import re
import secrets
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from awello.web.rate_limits import RateLimits, to_client_network
from awello.web.request_guard import client_address_of

DEVICE_COOKIE = "awello_device"  # kept after logging out
# Attempts in a burst and per second: per pair of account name and client network (or device).
NAME_AND_ORIGIN_RATE = (10, 1 / 6)
# Attempts from unknown origins, in a burst and per second: per client network, per account name, and in total.
NETWORK_RATE, NAME_RATE, UNKNOWN_ORIGIN_RATE = (40, 1 / 3), (50, 1 / 2), (100, 5)


@dataclass(frozen=True)
class LoginOrigin:
    """Where a login comes from."""

    address: str
    client_network: str
    device: str
    """The value of the device cookie, or a newly generated value."""


def read_login_origin(request: HTTPConnection) -> LoginOrigin:
    """Read the origin of a login from a request."""
    address, device = client_address_of(request), request.cookies.get(DEVICE_COOKIE, "")
    if not re.fullmatch(r"[\w-]{43}", device, re.ASCII):
        device = secrets.token_urlsafe(32)
    return LoginOrigin(address, to_client_network(address), device)


class LoginLimits:
    """The rate limits on login attempts by account, client network and device."""

    def __init__(self) -> None:
        self.name_and_origin_limits, self.network_limits = RateLimits(*NAME_AND_ORIGIN_RATE), RateLimits(*NETWORK_RATE)
        self.name_limits, self.unknown_origin_limits = RateLimits(*NAME_RATE), RateLimits(*UNKNOWN_ORIGIN_RATE)

    def take_unknown_or_wait(self) -> float:
        """Count an attempt from an unknown origin and return 0 if it is allowed now, else return the seconds to wait.

        Creating an account counts as an attempt, too, because it also hashes a password.
        """
        return self.unknown_origin_limits.take_or_wait("")

    def take_or_wait(self, name: str, origin: LoginOrigin, known_origin: str | None) -> float:
        """Count an attempt and return 0 if it is allowed now, else return the seconds to wait.

        `known_origin` is the result of `find_known_login_origin`.
        """
        name = name.lower()
        if known_origin:
            return self.name_and_origin_limits.take_or_wait(
                f"{name} {origin.device if known_origin == 'device' else origin.client_network}"
            )
        return (
            self.network_limits.take_or_wait(origin.client_network)
            or self.name_and_origin_limits.take_or_wait(f"{name} {origin.client_network}")
            or self.name_limits.take_or_wait(name)
            or self.take_unknown_or_wait()
        )
