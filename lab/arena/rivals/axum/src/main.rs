//! axum on tokio's multi-threaded runtime, TLS by rustls: routes by extractors, tower-http for compression and files.
use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{
        ws::{Message, WebSocketUpgrade},
        DefaultBodyLimit, Path, Query, State,
    },
    http::{header::CONTENT_TYPE, StatusCode},
    response::{IntoResponse, Response},
    routing::{any, get, post},
    Json, Router,
};
use futures_util::StreamExt;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use rust_common::{answer, Factor, Flags, Item, Sum};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tower_http::{compression::CompressionLayer, services::ServeDir};

type Items = Arc<Vec<Item>>;

async fn sum(Query(query): Query<Sum>) -> String {
    (query.a + query.b).to_string()
}

async fn sum_with_body(Query(query): Query<Sum>, body: String) -> Result<String, StatusCode> {
    let third: i64 = body.trim().parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    Ok((query.a + query.b + third).to_string())
}

async fn json(State(items): State<Items>, Path(count): Path<usize>, Query(factor): Query<Factor>) -> Response {
    Json(answer(&items, count, factor.m)).into_response()
}

async fn delay(Path(ms): Path<u64>) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms.to_string()
}

async fn echo_body(body: Bytes) -> Response {
    ([(CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

async fn upload(body: Body) -> Result<String, StatusCode> {
    let mut stream = body.into_data_stream();
    let mut size = 0;
    while let Some(piece) = stream.next().await {
        size += piece.map_err(|_| StatusCode::BAD_REQUEST)?.len();
    }
    Ok(size.to_string())
}

async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|mut socket| async move {
        while let Some(Ok(message)) = socket.recv().await {
            let is_content = matches!(message, Message::Text(_) | Message::Binary(_));
            if is_content && socket.send(message).await.is_err() {
                return;
            }
        }
    })
}

fn router(flags: &Flags) -> Router {
    let files = ServeDir::new(&flags.static_folder).precompressed_br().precompressed_gzip();
    Router::new()
        .route("/baseline11", get(sum).post(sum_with_body))
        .route("/baseline2", get(sum))
        .route("/pipeline", get(|| async { "ok" }))
        .route("/delay/{ms}", get(delay))
        .route("/echo", post(echo_body))
        .route("/json/{count}", get(json).layer(CompressionLayer::new()))
        .route("/upload", post(upload).layer(DefaultBodyLimit::disable()))
        .route("/ws", any(echo))
        .nest_service("/static", files)
        .with_state(Arc::new(flags.items()))
}

#[derive(Clone)]
struct Port {
    app: TowerToHyperService<Router>,
    builder: auto::Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
}

async fn serve_connection(port: Port, stream: TcpStream) {
    let _ = stream.set_nodelay(true); // a connection that is gone already fails when it is served
    // A peer that resets, or fails its handshake, is no failure of the server.
    if let Some(acceptor) = port.tls {
        let Ok(stream) = acceptor.accept(stream).await else { return };
        let _ = port.builder.serve_connection_with_upgrades(TokioIo::new(stream), port.app).await;
    } else if !port.builder.is_http1_available() {
        let _ = port.builder.serve_connection(TokioIo::new(stream), port.app).await; // with upgrades it takes both
    } else {
        let _ = port.builder.serve_connection_with_upgrades(TokioIo::new(stream), port.app).await;
    }
}

async fn listen(number: u16, port: Port) -> std::io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], number))).await?;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(serve_connection(port.clone(), stream));
    }
}

async fn serve(flags: Flags) -> std::io::Result<()> {
    let app = TowerToHyperService::new(router(&flags));
    let builder = auto::Builder::new(TokioExecutor::new());
    let tls = |protocols: &[&[u8]]| Some(TlsAcceptor::from(flags.tls_config(protocols)));
    let port = |builder: auto::Builder<TokioExecutor>, tls| Port { app: app.clone(), builder, tls };
    tokio::try_join!(
        tokio::spawn(listen(flags.h1, port(builder.clone(), None))),
        tokio::spawn(listen(flags.h1_tls, port(builder.clone().http1_only(), tls(&[b"http/1.1"])))),
        tokio::spawn(listen(flags.h2c, port(builder.clone().http2_only(), None))),
        tokio::spawn(listen(flags.tls, port(builder, tls(&[b"h2", b"http/1.1"])))),
    )
    .map_err(std::io::Error::other)
    .and_then(|(first, second, third, fourth)| first.and(second).and(third).and(fourth))
}

fn main() {
    let flags = Flags::read();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(flags.threads).enable_all().build();
    if let Err(error) = runtime.and_then(|runtime| runtime.block_on(serve(flags))) {
        rust_common::fail(&format!("arena_axum: {error}"));
    }
}

// SPDX-License-Identifier: Apache-2.0
