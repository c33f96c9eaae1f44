"""The club's HTTP API for accounts, bots, tokens, the leaderboard, profiles and the export of games."""

from functools import partial
from math import ceil
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from awello.club import accounts, profile
from awello.club.stored_games import load_leaderboard
from awello.formats.registry import find_format
from awello.web.account_messages import (
    BotRequest,
    LeaderboardRowJson,
    LoginRequest,
    PasswordRequest,
    ProfileJson,
    SessionJson,
    TokenJson,
    TokenRequest,
)
from awello.web.club_service import SESSION_COOKIE, RequiredClub
from awello.web.errors import ApiError
from awello.web.files_api import FILE_RESPONSES, make_file_response
from awello.web.logins import DEVICE_COOKIE, LoginOrigin, read_login_origin
from awello.web.messages import GameName
from awello.web.request_guard import client_address_of, client_network_of

MAX_EXPORTED_GAMES = 5000  # in one file
Before = Annotated[int | None, Query(ge=1, lt=1 << 31, description="Only games whose number is smaller than this")]

router = APIRouter(prefix="/api/club", tags=["club"])


def _check_wait(seconds: float) -> None:
    """Raise `ApiError` if the client has to wait before the next attempt, that is, if `seconds` is not 0."""
    if seconds:
        time = f"{ceil(seconds)} s" if seconds <= 60 else f"{ceil(seconds / 60)} min"
        raise ApiError(429, "too_many_attempts", f"too many attempts: try again in {time}", time=time)


# ---- accounts -------------------------------------------------------------------------------------------------------
@router.post("/accounts", summary="Create an account", response_model=SessionJson)
async def sign_up(login: LoginRequest, club: RequiredClub, request: Request) -> Any:
    """Create a user account and log in."""
    origin = read_login_origin(request)
    accounts.check_new_password(login.password)  # invalid input does not count as an attempt
    await club.read(partial(accounts.check_new_name, name=login.name))
    _check_wait(club.signup_limits.take_or_wait(origin.client_network) or club.login_limits.take_unknown_or_wait())
    password_hash = await club.run_hash(accounts.hash_password, login.password)

    def write(connection: Any) -> tuple[Any, str]:
        account = accounts.create_account(connection, login.name, password_hash)
        return account, _create_session(connection, account, origin, "account created")

    account, secret = await club.write(write)
    return _session_response(request, origin, account.name, secret)


@router.post("/session", summary="Log in", response_model=SessionJson)
async def log_in(login: LoginRequest, club: RequiredClub, request: Request) -> Any:
    """Create a session, and set its cookie."""
    origin = read_login_origin(request)
    account, password_hash = await _load_login(club, login.name, origin)
    correct = await club.run_hash(accounts.verify_password, password_hash, login.password)
    if account is None or not correct:
        name = (
            account.name if account else "an unknown name"
        )  # an unknown name is not logged: it may be a password typed into the wrong field
        await club.write(
            lambda connection: accounts.log_event(connection, f"wrong password for {name}", origin.address)
        )
        raise ApiError(401, "wrong_credentials", "the name or the password is wrong: check both")

    def write(connection: Any) -> str:
        if accounts.load_password_hash(connection, login.name)[1] != password_hash:
            raise ApiError(401, "password_changed", str(accounts.password_changed_error()))
        return _create_session(connection, account, origin, "logged in")

    return _session_response(request, origin, account.name, await club.write(write))


@router.put("/password", summary="Change the password", response_model=SessionJson)
async def change_password(passwords: PasswordRequest, club: RequiredClub, request: Request) -> Any:
    """Change the password; all other sessions of the account end."""
    user, origin = await _require_user(club, request), read_login_origin(request)
    _, password_hash = await _load_login(club, user.name, origin)
    if not await club.run_hash(accounts.verify_password, password_hash, passwords.old):
        await club.write(lambda connection: accounts.log_event(connection, "wrong password", origin.address, user.id))
        raise ApiError(403, "wrong_password", "the current password is wrong: enter it again")
    new_hash = await club.run_hash(accounts.hash_password, passwords.new)

    def write(connection: Any) -> str:
        accounts.change_password(connection, user, new_hash, password_hash)
        return _create_session(connection, user, origin, "password changed")

    return _session_response(request, origin, user.name, await club.write(write))


async def _load_login(club: Any, name: str, origin: LoginOrigin) -> tuple[Any, str | None]:
    """Return the account with this name, and its password hash; raise `ApiError` after too many attempts."""

    def load(connection: Any) -> tuple[Any, str | None, str | None]:
        account, password_hash = accounts.load_password_hash(connection, name)
        account_id = account.id if account else 0  # so that an unknown name takes as long as a known one
        known = accounts.find_known_login_origin(connection, account_id, origin.device, origin.client_network)
        return account, password_hash, known

    account, password_hash, known = await club.read(load)
    _check_wait(club.login_limits.take_or_wait(name, origin, known))
    return account, password_hash


def _create_session(connection: Any, account: Any, origin: LoginOrigin, event: str) -> str:
    """Create a session, record the device and return the secret of the session."""
    accounts.log_event(connection, event, origin.address, account.id)
    accounts.save_device(connection, account, origin.device, origin.client_network)
    return accounts.create_session(connection, account)


@router.delete("/session", summary="Log out", response_model=SessionJson)
async def log_out(club: RequiredClub, request: Request) -> Any:
    """End the session of this browser."""
    if secret := request.cookies.get(SESSION_COOKIE):
        await club.write(partial(accounts.delete_session, secret=secret))
    response = JSONResponse({"name": None, "bot": False})
    response.delete_cookie(SESSION_COOKIE, path="/api/club")
    return response


@router.get("/session", summary="Show the logged-in account", response_model=SessionJson)
async def show_session(club: RequiredClub, request: Request) -> Any:
    """Return the account to which the session or token of the request belongs."""
    return await club.authenticate(request.headers, request.cookies) or {"name": None}


def _session_response(request: Request, origin: LoginOrigin, name: str, secret: str) -> Response:
    """Set the session and device cookies; scripts cannot read them, and requests from other sites do not carry them."""
    response, secure = JSONResponse({"name": name, "bot": False}), request.url.scheme == "https"
    cookies = [
        (SESSION_COOKIE, secret, accounts.SESSION_SECONDS),
        (DEVICE_COOKIE, origin.device, accounts.KNOWN_DEVICE_SECONDS),
    ]
    for key, value, lasts in cookies:
        response.set_cookie(
            key, value, max_age=int(lasts), path="/api/club", httponly=True, samesite="strict", secure=secure
        )
    return response


async def _require_user(club: Any, request: Request) -> Any:
    account = await club.authenticate(request.headers, request.cookies)
    if account is None or account.bot:
        raise ApiError(
            401, "login_required", "this request needs a logged-in user, not a bot: log in with a name and a password"
        )
    return account


def _check_session(connection: Any, request: Request, user: Any) -> None:
    """Refuse an operation if the session has ended since the request arrived."""
    if accounts.find_by_session(connection, request.cookies.get(SESSION_COOKIE, "")) != user:
        raise ApiError(401, "session_ended", "your session has ended: log in again")


# ---- bots ------------------------------------------------------------------------------------------------------------
@router.post("/bots", summary="Create a bot", response_model=SessionJson)
async def create_bot(bot: BotRequest, club: RequiredClub, request: Request) -> Any:
    """Create an account for a bot of the user."""
    owner = await _require_user(club, request)

    def write(connection: Any) -> Any:
        _check_session(connection, request, owner)
        accounts.log_event(connection, f"bot {bot.name} created", client_address_of(request), owner.id)
        return accounts.create_account(connection, bot.name, None, owner.id)

    return await club.write(write)


@router.get("/bots", summary="List your bots", response_model=list[SessionJson])
async def list_bots(club: RequiredClub, request: Request) -> Any:
    """List the bots of the logged-in user."""
    return await club.read(partial(accounts.list_bots, owner=await _require_user(club, request)))


async def _find_own_bot(club: Any, request: Request, name: str) -> tuple[Any, Any]:
    """Return the logged-in user, and the user's bot with this name."""
    owner, found = await _require_user(club, request), await club.read(partial(accounts.find_account, name=name))
    if found is None or found.owner != owner.id:
        raise ApiError(404, "unknown_bot", f"you have no bot named {name}: check the name", name=name)
    return owner, found


NamePath = Annotated[str, Path(max_length=40)]


@router.get("/bots/{name}/tokens", summary="List the tokens of a bot", response_model=list[TokenJson])
async def list_tokens(name: NamePath, club: RequiredClub, request: Request) -> Any:
    """List the tokens of a bot, without their secrets."""
    _, bot = await _find_own_bot(club, request, name)
    return await club.read(partial(accounts.list_tokens, account=bot))


@router.post("/bots/{name}/tokens", summary="Create a token")
async def create_token(name: NamePath, label: TokenRequest, club: RequiredClub, request: Request) -> dict[str, str]:
    """Create a token and return its secret, which is shown only once."""
    owner, bot = await _find_own_bot(club, request, name)

    def write(connection: Any) -> str:
        _check_session(connection, request, owner)
        accounts.log_event(connection, f"token created for {bot.name}", client_address_of(request), bot.owner)
        return accounts.create_token(connection, bot, label.label)

    return {"token": await club.write(write)}


@router.delete("/bots/{name}/tokens/{number}", summary="Revoke a token")
async def revoke_token(
    name: NamePath, number: Annotated[int, Path(ge=1, lt=1 << 31)], club: RequiredClub, request: Request
) -> dict[str, bool]:
    """Revoke a token; connections that use it are closed."""
    _, bot = await _find_own_bot(club, request, name)

    def write(connection: Any) -> bool:
        accounts.log_event(connection, f"token {number} of {bot.name} revoked", client_address_of(request), bot.owner)
        return accounts.revoke_token(connection, bot, number)

    return {"revoked": await club.write(write)}


# ---- public ----------------------------------------------------------------------------------------------------------
@router.get("/leaderboard", summary="Show the leaderboard", response_model=list[LeaderboardRowJson])
async def show_leaderboard(
    club: RequiredClub,
    variant: GameName = "othello",
    speed: Annotated[str, Query(pattern="^(blitz|standard)$")] = "blitz",
    count: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Any:
    """List the players with the highest established ratings."""
    return await club.read(lambda connection: load_leaderboard(connection, f"{variant} {speed}", count))


@router.get("/players/{name}", summary="Show a player", response_model=ProfileJson)
async def show_player(
    name: NamePath,
    club: RequiredClub,
    last: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Before = None,
) -> Any:
    """Show the ratings, the number of games and the recent games of a player."""
    found = await club.read(partial(profile.load_profile, name=name, last=last, before=before))
    return found | {"online": found["id"] in club.server.online}


@router.get(
    "/players/{name}/games", summary="Export the games of a player", response_class=Response, responses=FILE_RESPONSES
)
async def download_games(name: NamePath, club: RequiredClub, request: Request, before: Before = None) -> Response:
    """Export the latest finished games, at most 5000: GGF for Othello, OGN for Awalé, or both in a `.zip`."""
    account = await club.read(partial(accounts.get_account, name=name))
    _check_wait(club.download_limits.take_or_wait(client_network_of(request)))

    def write(connection: Any) -> dict[str, bytes]:
        records = list(profile.load_records(connection, account, MAX_EXPORTED_GAMES, before))
        formats = [("ggf", "othello"), ("ogn", "awale")]
        found = [(format, [each for each in records if each.start.game.family == family]) for format, family in formats]
        return {end: text for format, some in found if some for end, text in find_format(format).write(some).items()}

    async with club.export_lock:  # one at a time, so that games in progress are not slowed down
        contents = await club.read(write)
    if not contents:
        message = f"no finished games of {account.name} were found: choose another player, or leave 'before' out"
        raise ApiError(404, "no_finished_games", message, name=account.name)
    return make_file_response(contents, f"awello-{account.name}")
