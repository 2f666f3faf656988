//! hyper 1 on tokio: no router, one runtime of one thread for each of `--threads` with its own listeners
//! (SO_REUSEPORT), TLS by rustls. Of the arena's profiles, those that need no compression, files or WebSocket.
use std::{convert::Infallible, net::SocketAddr, rc::Rc, sync::Arc, thread, time::Duration};

use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Bytes, Incoming},
    header::{HeaderValue, CONTENT_TYPE},
    service::service_fn,
    Method, Request, Response, StatusCode,
};
use hyper_util::{
    rt::TokioIo,
    server::conn::auto,
};
use rust_common::{answer, Flags, Item};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

type Reply = Response<Full<Bytes>>;

fn reply(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Reply {
    let mut made = Response::new(Full::new(content.into()));
    *made.status_mut() = status;
    made.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    made
}

fn text(content: impl Into<Bytes>) -> Reply {
    reply(StatusCode::OK, "text/plain", content)
}

fn refuse(status: StatusCode) -> Reply {
    reply(status, "text/plain", Bytes::new())
}

fn parameter(query: &str, name: &str) -> Option<i64> {
    let (_, value) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name)?;
    value.parse().ok()
}

async fn sum(request: Request<Incoming>) -> Option<Reply> {
    let query = request.uri().query()?;
    let mut total = parameter(query, "a")? + parameter(query, "b")?;
    if request.method() == Method::POST {
        let body = request.into_body().collect().await.ok()?.to_bytes();
        total += std::str::from_utf8(&body).ok()?.trim().parse::<i64>().ok()?;
    }
    Some(text(total.to_string()))
}

async fn delay(ms: &str) -> Option<Reply> {
    let ms = ms.parse().ok()?;
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Some(text(ms.to_string()))
}

async fn echo(body: Incoming) -> Reply {
    match body.collect().await {
        Ok(collected) => reply(StatusCode::OK, "application/octet-stream", collected.to_bytes()),
        Err(_) => refuse(StatusCode::BAD_REQUEST),
    }
}

async fn upload(mut body: Incoming) -> Reply {
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return refuse(StatusCode::BAD_REQUEST) };
        size += frame.data_ref().map_or(0, Bytes::len);
    }
    text(size.to_string())
}

fn json(items: &[Item], count: &str, query: &str) -> Option<Reply> {
    let content = serde_json::to_vec(&answer(items, count.parse().ok()?, parameter(query, "m").unwrap_or(1))).ok()?;
    Some(reply(StatusCode::OK, "application/json", content))
}

async fn route(items: Rc<Vec<Item>>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let wrong = || refuse(StatusCode::BAD_REQUEST);
    Ok(match request.uri().path() {
        "/baseline11" | "/baseline2" => sum(request).await.unwrap_or_else(wrong),
        "/pipeline" => text("ok"),
        "/upload" => upload(request.into_body()).await,
        "/echo" => echo(request.into_body()).await,
        path => match (path.strip_prefix("/json/"), path.strip_prefix("/delay/")) {
            (Some(count), _) => json(&items, count, request.uri().query().unwrap_or_default()).unwrap_or_else(wrong),
            (_, Some(ms)) => delay(ms).await.unwrap_or_else(wrong),
            _ => refuse(StatusCode::NOT_FOUND),
        },
    })
}

fn listen(port: u16) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], port)).into())?;
    socket.listen(4096)?;
    TcpListener::from_std(socket.into())
}

// Runs what HTTP/2 starts on the thread's own runtime.
#[derive(Clone)]
struct Local;

impl<F: std::future::Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

#[derive(Clone)]
struct Port {
    items: Rc<Vec<Item>>,
    builder: auto::Builder<Local>,
    tls: Option<TlsAcceptor>,
}

async fn serve_connection(port: Port, stream: TcpStream) {
    let _ = stream.set_nodelay(true); // a connection that is gone already fails when it is served
    let service = service_fn(move |request| route(port.items.clone(), request));
    // A peer that resets, or fails its handshake, is no failure of the server.
    if let Some(acceptor) = port.tls {
        let Ok(stream) = acceptor.accept(stream).await else { return };
        let _ = port.builder.serve_connection(TokioIo::new(stream), service).await;
    } else {
        let _ = port.builder.serve_connection(TokioIo::new(stream), service).await;
    }
}

async fn serve_port(number: u16, port: Port) -> std::io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    let listener = listen(number)?;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::task::spawn_local(serve_connection(port.clone(), stream));
    }
}

fn serve(flags: &Flags) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let items = Rc::new(flags.items());
    let mut both = auto::Builder::new(Local);
    both.http1().pipeline_flush(true);
    let tls = |protocols: &[&[u8]]| Some(TlsAcceptor::from(flags.tls_config(protocols)));
    let port = |builder: auto::Builder<Local>, tls| Port { items: items.clone(), builder, tls };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        tokio::try_join!(
            serve_port(flags.h1, port(both.clone(), None)),
            serve_port(flags.h1_tls, port(both.clone().http1_only(), tls(&[b"http/1.1"]))),
            serve_port(flags.h2c, port(both.clone().http2_only(), None)),
            serve_port(flags.tls, port(both.clone(), tls(&[b"h2", b"http/1.1"]))),
        )
    })?;
    Ok(())
}

fn main() {
    let flags = Arc::new(Flags::read());
    let workers: Vec<_> = (0..flags.threads.max(1))
        .map(|_| {
            let flags = flags.clone();
            thread::spawn(move || serve(&flags))
        })
        .collect();
    for worker in workers {
        if let Ok(Err(error)) = worker.join() {
            rust_common::fail(&format!("arena_hyper: {error}"));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
