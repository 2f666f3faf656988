"""FastAPI on uvicorn with uvloop and httptools: one process. It has no HTTP/2, and compresses with gzip only."""
import argparse
import asyncio
import json
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel


class Rating(BaseModel):
    """The rating of an item."""

    score: int
    count: int


class Item(BaseModel):
    """An item of the data set."""

    id: int
    name: str
    category: str
    price: int
    quantity: int
    active: bool
    tags: list[str]
    rating: Rating


class Priced(Item):
    """An item, as the reply has it."""

    total: int


class Answer(BaseModel):
    """The reply of /json/{count}."""

    items: list[Priced]
    count: int


def read_flags() -> argparse.Namespace:
    """Read the flags that every server of the arena has."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("h1", "h1-tls", "h2c", "tls"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--threads", type=int, choices=[1], default=1)
    for name in ("static", "dataset", "cert", "key"):
        parser.add_argument(f"--{name}", default="")
    return parser.parse_args()


def json_application(items: list[dict]) -> FastAPI:
    """/json/{count}, its own application because its middleware is."""
    application = FastAPI()
    application.add_middleware(GZipMiddleware)

    @application.get("/{count}")
    async def priced(count: int, m: int = 1) -> Answer:
        chosen = [Priced(**item, total=item["price"] * item["quantity"] * m) for item in items[:count]]
        return Answer(items=chosen, count=len(chosen))

    return application


def application_of(flags: argparse.Namespace) -> FastAPI:
    """All profiles."""
    application = FastAPI()

    @application.get("/baseline11", response_class=PlainTextResponse)
    async def total(a: int, b: int) -> str:
        return str(a + b)

    @application.post("/baseline11", response_class=PlainTextResponse)
    async def total_with_body(a: int, b: int, request: Request) -> str:
        return str(a + b + int(await request.body()))

    @application.get("/pipeline", response_class=PlainTextResponse)
    async def pipeline() -> str:
        return "ok"

    @application.get("/delay/{ms}", response_class=PlainTextResponse)
    async def delayed(ms: int) -> str:
        await asyncio.sleep(ms / 1000)
        return str(ms)

    @application.post("/echo")
    async def echo_body(request: Request) -> Response:
        return Response(await request.body(), media_type="application/octet-stream")

    @application.post("/upload", response_class=PlainTextResponse)
    async def upload(request: Request) -> str:
        size = 0
        async for piece in request.stream():
            size += len(piece)
        return str(size)

    @application.websocket("/ws")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if message.get("text") is not None:
                    await socket.send_text(message["text"])
                else:
                    await socket.send_bytes(message["bytes"])
        except WebSocketDisconnect:
            return

    application.mount("/json", json_application(json.loads(Path(flags.dataset).read_text(encoding="utf-8"))))
    application.mount("/static", StaticFiles(directory=flags.static))
    return application


async def serve(flags: argparse.Namespace) -> None:
    """One loop for both ports."""
    application = application_of(flags)
    common = {"host": "127.0.0.1", "access_log": False, "log_level": "warning"}
    servers = []
    if flags.h1:
        servers.append(uvicorn.Server(uvicorn.Config(application, port=flags.h1, **common)))
    if flags.h1_tls:
        servers.append(uvicorn.Server(uvicorn.Config(application, port=flags.h1_tls, ssl_certfile=flags.cert,
                                                     ssl_keyfile=flags.key, **common)))
    await asyncio.gather(*(server.serve() for server in servers))


if __name__ == "__main__":
    import uvloop
    uvloop.run(serve(read_flags()))

# SPDX-License-Identifier: Apache-2.0
