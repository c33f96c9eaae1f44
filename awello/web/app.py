"""The web application: the page's files, the API and the WebSocket connections."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from awello import __version__
from awello.club.game_state import ClubError
from awello.errors import AwelloError
from awello.kernel_compiler import KernelCompiler
from awello.web import api, archive_api, contests_api, files_api
from awello.web.archive_service import ArchiveService
from awello.web.child_processes import ENGINE_KERNEL_MODULES
from awello.web.club_service import EXTRA_MISSING, NO_CLUB, ClubService
from awello.web.cluster_slots import ClusterSlot, ClusterWorkers
from awello.web.connection import POLICY_VIOLATION
from awello.web.contests import ContestRunner
from awello.web.engine_connection import serve_engine
from awello.web.engine_pool import EnginePool
from awello.web.engine_slots import LocalSlot
from awello.web.errors import INTERNAL_ERROR, ApiError, describe_error
from awello.web.metrics import format_metrics
from awello.web.page_files import PageFiles
from awello.web.rate_limits import ConcurrencyLimit, RateLimits
from awello.web.request_guard import EVENT_LOOP_RATE, LOCAL_HOSTS, RequestGuard

if not EXTRA_MISSING:
    from awello.web import accounts_api, club_connection, tournaments_api

PAGE_TASK_TIMEOUT = 10.0  # seconds within which a task of `page_tasks` must end
# The HTTP status of each error code of the club; 400 for all other codes.
CLUB_STATUS = {"unknown_account": 404, "unknown_tournament": 404, "password_changed": 403}


def create_app(
    jobs: int = 1,
    host: str = "127.0.0.1",
    archive: str | None = "",
    club: str | None = None,
    hostnames: Sequence[str] = (),
    cluster: str | None = None,
    kernels: KernelCompiler | None = None,
) -> FastAPI:
    """Create the application; it accepts requests for `host` and for the additional `hostnames`.

    `jobs` is the number of engine processes, which run on this machine.  If `cluster` is the address of a dask
    scheduler, they run on its workers instead, and `jobs=0` starts one process per worker.  `archive` and `club` are
    files or database URLs; None disables them, and an empty `archive` is the default archive.  Engine processes start
    after `kernels` has compiled their kernels.
    """
    public = bool(hostnames) or host not in LOCAL_HOSTS

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        cluster_workers = ClusterWorkers(cluster) if cluster else None
        compiled = asyncio.ensure_future(asyncio.to_thread(kernels.wait, ENGINE_KERNEL_MODULES)) if kernels else None
        app.state.engines = EnginePool(
            jobs, new_slot=partial(ClusterSlot, cluster_workers) if cluster_workers else LocalSlot, compiled=compiled
        )
        app.state.contests = ContestRunner(public=public)
        app.state.workers = EnginePool(1, PAGE_TASK_TIMEOUT, partial(LocalSlot, engines=False), compiled)
        app.state.archive_service = ArchiveService(archive, public)
        app.state.club_service = ClubService(club, app.state.archive_service)
        try:
            await app.state.club_service.open()
            if cluster_workers:
                app.state.engines.count = jobs or len(await cluster_workers.list_workers())
            await app.state.engines.start()
            if app.state.engines.count:  # without engine processes, the worker starts at the first request
                await app.state.workers.start()
        except Exception as error:
            app.state.startup_error = error  # `serve_app` raises it again
            raise
        try:
            yield
        finally:
            if kernels:
                kernels.close()
            await app.state.club_service.close()
            app.state.contests.close()
            app.state.archive_service.close()
            await app.state.engines.close()
            await app.state.workers.close()
            if cluster_workers:
                await cluster_workers.close()

    app = FastAPI(
        title="Awello",
        version=__version__,
        summary="Othello and Awalé: positions, players, analysis, an archive of games, contests",
        description=api.ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        responses=api.ERROR_RESPONSES,
    )
    network_limits, connections = RateLimits(*EVENT_LOOP_RATE), ConcurrencyLimit()
    app.add_middleware(PageFiles)
    app.add_middleware(RequestGuard, host=host, hostnames=hostnames, network_limits=network_limits)
    app.include_router(api.router)
    app.include_router(files_api.router, responses={404: api.NOT_FOUND})
    app.include_router(archive_api.router, responses={404: api.NOT_FOUND, 429: api.TOO_MANY_REQUESTS})
    app.include_router(contests_api.router, responses={404: api.NOT_FOUND, 409: api.CONFLICT})
    _add_club_routes(app, network_limits)
    add_error_handlers(app)

    @app.websocket("/api/engine")
    async def serve_engine_socket(socket: WebSocket) -> None:
        await serve_engine(socket, app.state.engines, network_limits, connections, app.state.club_service)

    @app.get("/metrics", include_in_schema=False)
    async def show_metrics() -> Response:
        return Response(format_metrics(app.state.club_service), media_type="text/plain; version=0.0.4")

    return app


def _add_club_routes(app: FastAPI, network_limits: RateLimits) -> None:
    """Add the routes of the club; without the `club` extra, the HTTP routes return the error `no_club`."""
    if EXTRA_MISSING:

        @app.api_route("/api/club/{path:path}", methods=["GET", "POST", "PUT", "DELETE"], include_in_schema=False)
        async def refuse_without_club(path: str) -> None:
            raise ApiError(404, "no_club", NO_CLUB)
    else:
        app.include_router(tournaments_api.router, responses={404: api.NOT_FOUND})
        app.include_router(
            accounts_api.router, responses={401: api.UNAUTHORIZED, 404: api.NOT_FOUND, 429: api.TOO_MANY_REQUESTS}
        )

    @app.websocket("/api/club/live")
    async def serve_club_socket(socket: WebSocket) -> None:
        if app.state.club_service.database is None:
            await socket.close(POLICY_VIOLATION, NO_CLUB)
        else:
            await club_connection.serve_club(socket, app.state.club_service, network_limits)


def add_error_handlers(app: FastAPI) -> None:
    """Register handlers that return every error as an `ErrorJson` response."""

    @app.exception_handler(AwelloError)
    @app.exception_handler(RequestValidationError)
    @app.exception_handler(HTTPException)
    async def handle_refusal(
        request: Request, error: AwelloError | RequestValidationError | HTTPException
    ) -> JSONResponse:
        fields = describe_error(error)
        status = 422 if isinstance(error, RequestValidationError) else 400
        if isinstance(error, ClubError):
            status = CLUB_STATUS.get(error.code, 400)
        return JSONResponse(fields, getattr(error, "status_code", status))

    @app.exception_handler(Exception)
    async def handle_failure(request: Request, error: Exception) -> JSONResponse:
        logging.getLogger("awello").error("%s %s", request.method, request.url.path, exc_info=error)
        return JSONResponse(INTERNAL_ERROR, 500)
