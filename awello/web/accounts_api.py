"""The club's part of the API: accounts, tokens, the ladder, profiles and games to take home."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from awello.club import accounts, profile
from awello.club.stored_games import ladder
from awello.formats.files import find_format
from awello.web.account_messages import (
    BotRegistration,
    LadderRowJson,
    LoginRequest,
    PasswordChange,
    ProfileJson,
    SessionJson,
    TokenJson,
    TokenRequest,
)
from awello.web.club_service import COOKIE, House
from awello.web.errors import ApiError
from awello.web.files_api import FILE_RESPONSES, file_response
from awello.web.logins import DEVICE_COOKIE, Origin, origin_of
from awello.web.messages import GameName
from awello.web.rate_limits import network_of
from awello.web.request_guard import address_of

MOST_GAMES = 5000  # that are written to one file
Before = Annotated[int | None, Query(ge=1, lt=1 << 31, description="Only games with smaller numbers")]

router = APIRouter(prefix="/api/club", tags=["club"])


def _often(taken: bool) -> None:
    if not taken:
        raise ApiError(429, "often", "too many tries: wait a minute")


# ---- accounts -------------------------------------------------------------------------------------------------------
@router.post("/accounts", summary="Open an account", response_model=SessionJson)
async def sign_up(login: LoginRequest, house: House, request: Request) -> Any:
    """An account for a person, who is logged in at once."""
    origin = origin_of(request)
    _often(house.signups.take(origin.network) and house.logins.admit_stranger())
    hashed = await house.hash(accounts.hash_password, login.password)

    def act(connection: Any) -> tuple[Any, str]:
        account = accounts.open_account(connection, login.name, hashed)
        return account, _let_in(connection, account, origin, "account opened")

    account, secret = await house.write(act)
    return _welcome(request, origin, account.name, secret)


@router.post("/session", summary="Log in", response_model=SessionJson)
async def log_in(login: LoginRequest, house: House, request: Request) -> Any:
    """A session for a browser, kept in a cookie."""
    origin = origin_of(request)
    account, hashed = await _may_try(house, login.name, origin)
    right = await house.hash(accounts.is_password, hashed, login.password)
    if account is None or not right:
        name = account.name if account else "an unknown name"  # which may be a password in the wrong field
        await house.write(lambda connection: accounts.note(connection, f"wrong password for {name}", origin.address))
        raise ApiError(401, "password", "the name or the password is wrong")

    def act(connection: Any) -> str:
        if accounts.stored_password(connection, login.name)[1] != hashed:
            raise ApiError(401, "password", "the password has just been changed: use the new one")
        return _let_in(connection, account, origin, "logged in")

    return _welcome(request, origin, account.name, await house.write(act))


@router.put("/password", summary="Change one's password", response_model=SessionJson)
async def change(passwords: PasswordChange, house: House, request: Request) -> Any:
    """Another password for whoever is logged in; all other browsers must log in again."""
    person, origin = await _person(house, request), origin_of(request)
    _, hashed = await _may_try(house, person.name, origin)
    if not await house.hash(accounts.is_password, hashed, passwords.old):
        await house.write(lambda connection: accounts.note(connection, "wrong password", origin.address, person.number))
        raise ApiError(403, "password", "the old password is wrong")
    new = await house.hash(accounts.hash_password, passwords.new)

    def act(connection: Any) -> str:
        accounts.change_password(connection, person, new, hashed)
        return _let_in(connection, person, origin, "password changed")

    return _welcome(request, origin, person.name, await house.write(act))


async def _may_try(house: Any, name: str, origin: Origin) -> tuple[Any, str | None]:
    """The account of a name and its password as it is stored; refused if passwords are tried too often."""

    def ask(connection: Any) -> tuple[Any, str | None, str | None]:
        account, hashed = accounts.stored_password(connection, name)
        number = account.number if account else 0  # a name that does not exist takes as long
        return account, hashed, accounts.is_known(connection, number, origin.device, origin.network)

    account, hashed, known = await house.read(ask)
    _often(house.logins.admit(name, origin, known))
    return account, hashed


def _let_in(connection: Any, account: Any, origin: Origin, what: str) -> str:
    """The secret of a new session; the device is known from now on."""
    accounts.note(connection, what, origin.address, account.number)
    accounts.remember_device(connection, account, origin.device, origin.network)
    return accounts.open_session(connection, account)


@router.delete("/session", summary="Log out", response_model=SessionJson)
async def log_out(house: House, request: Request) -> Any:
    """End this browser's session."""
    if secret := request.cookies.get(COOKIE):
        await house.write(partial(accounts.close_session, secret=secret))
    answer = JSONResponse({"name": None, "program": False})
    answer.delete_cookie(COOKIE, path="/api/club")
    return answer


@router.get("/session", summary="Who is logged in", response_model=SessionJson)
async def session(house: House, request: Request) -> Any:
    """The name of whoever asks."""
    return await house.who(request.headers, request.cookies) or {"name": None}


def _welcome(request: Request, origin: Origin, name: str, secret: str) -> Response:
    """Answer with cookies that scripts cannot read and other sites cannot send."""
    answer, secure = JSONResponse({"name": name, "program": False}), request.url.scheme == "https"
    cookies = [(COOKIE, secret, accounts.SESSION), (DEVICE_COOKIE, origin.device, accounts.KNOWN)]
    for key, value, lasts in cookies:
        answer.set_cookie(
            key, value, max_age=int(lasts), path="/api/club", httponly=True, samesite="strict", secure=secure
        )
    return answer


async def _person(house: Any, request: Request) -> Any:
    account = await house.who(request.headers, request.cookies)
    if account is None or account.program:
        raise ApiError(401, "account", "only people who are logged in can do this: log in")
    return account


def _check_session(connection: Any, request: Request, person: Any) -> None:
    """Refuse an act in whose transaction the session has ended: by another password, or with the account."""
    if accounts.by_session(connection, request.cookies.get(COOKIE, "")) != person:
        raise ApiError(401, "account", "your session has ended: log in again")


# ---- programs -------------------------------------------------------------------------------------------------------
@router.post("/programs", summary="Register a program", response_model=SessionJson)
async def add_program(program: BotRegistration, house: House, request: Request) -> Any:
    """An account for a program of whoever asks."""
    owner = await _person(house, request)

    def act(connection: Any) -> Any:
        _check_session(connection, request, owner)
        accounts.note(connection, f"program {program.name} registered", address_of(request), owner.number)
        return accounts.open_account(connection, program.name, None, owner.number)

    return await house.write(act)


@router.get("/programs", summary="One's programs", response_model=list[SessionJson])
async def programs(house: House, request: Request) -> Any:
    """The programs of whoever asks."""
    return await house.read(partial(accounts.list_programs, owner=await _person(house, request)))


async def _program(house: Any, request: Request, name: str) -> tuple[Any, Any]:
    """Whoever asks, and a program of theirs."""
    owner, found = await _person(house, request), await house.read(partial(accounts.find_account, name=name))
    if found is None or found.owner != owner.number:
        raise ApiError(404, "absent", f"you have no program {name}")
    return owner, found


OfProgram = Annotated[str, Path(max_length=40)]


@router.get("/programs/{name}/tokens", summary="Tokens of a program", response_model=list[TokenJson])
async def tokens(name: OfProgram, house: House, request: Request) -> Any:
    """The tokens that were made for a program, without their secrets."""
    _, program = await _program(house, request, name)
    return await house.read(partial(accounts.list_tokens, account=program))


@router.post("/programs/{name}/tokens", summary="Make a token")
async def add_token(name: OfProgram, label: TokenRequest, house: House, request: Request) -> dict[str, str]:
    """The secret by which a program logs in; it is shown once."""
    owner, program = await _program(house, request, name)

    def act(connection: Any) -> str:
        _check_session(connection, request, owner)
        accounts.note(connection, f"token made for {program.name}", address_of(request), program.owner)
        return accounts.make_token(connection, program, label.label)

    return {"token": await house.write(act)}


@router.delete("/programs/{name}/tokens/{number}", summary="Revoke a token")
async def drop_token(
    name: OfProgram, number: Annotated[int, Path(ge=1, lt=1 << 31)], house: House, request: Request
) -> dict[str, bool]:
    """Whoever has it cannot log in any more."""
    _, program = await _program(house, request, name)

    def act(connection: Any) -> bool:
        accounts.note(connection, f"token {number} of {program.name} revoked", address_of(request), program.owner)
        return accounts.revoke_token(connection, program, number)

    return {"revoked": await house.write(act)}


# ---- what everybody may see -----------------------------------------------------------------------------------------
@router.get("/ladder", summary="The best of a game", response_model=list[LadderRowJson])
async def show_ladder(
    house: House,
    game: GameName = "othello",
    speed: Annotated[str, Query(pattern="^(blitz|standard)$")] = "blitz",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Any:
    """People and programs by their rating."""
    return await house.read(lambda connection: ladder(connection, f"{game} {speed}", limit))


@router.get("/players/{name}", summary="A player", response_model=ProfileJson)
async def show_player(
    name: OfProgram,
    house: House,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Before = None,
) -> Any:
    """Their ratings, how many games they have played, and the last of them."""
    found = await house.read(partial(profile.load_profile, name=name, limit=limit, before=before))
    return found | {"here": found["number"] in house.hall.present}


@router.get(
    "/players/{name}/games", summary="A player's games as a file", response_class=Response, responses=FILE_RESPONSES
)
async def take_home(name: OfProgram, house: House, request: Request, before: Before = None) -> Response:
    """The games that have ended: those of Othello as GGF, those of Awalé as OGN; both are packed into a `.zip`."""
    account = await house.read(partial(accounts.need_account, name=name))
    _often(house.downloads.take(network_of(address_of(request))))

    def write(connection: Any) -> dict[str, bytes]:
        records = list(profile.records_of(connection, account, MOST_GAMES, before))
        sorts = [("ggf", "othello"), ("ogn", "awale")]
        found = [(format, [each for each in records if each.start.game.family == family]) for format, family in sorts]
        return {end: text for format, some in found if some for end, text in find_format(format).write(some).items()}

    async with house.writing:  # one at a time, so that games go on undisturbed
        contents = await house.read(write)
    if not contents:
        raise ApiError(404, "absent", f"{account.name} has played no game to its end")
    return file_response(contents, f"awello-{account.name}")
