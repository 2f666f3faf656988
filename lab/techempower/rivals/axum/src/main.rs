//! axum on one thread, with tokio-postgres. hyper flushes a pipeline's replies together, as TechEmpower's axum has it.
use axum::extract::{Path, Query, State};
use axum::http::{header, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::{routing::get, Json, Router};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rust_common::{Database, Flags, Message, Queries, World};
use std::sync::Arc;
use tower_http::set_header::SetResponseHeaderLayer;

type Shared = State<Arc<Database>>;

fn failed(_: impl std::error::Error) -> Response {
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

async fn user(State(database): Shared, Path(id): Path<i64>) -> Result<Response, Response> {
    Ok(match database.user(id).await.map_err(failed)? {
        Some(user) => Json(user).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

async fn json() -> Json<Message> {
    Json(Message { message: "Hello, World!" })
}

async fn plaintext() -> &'static str {
    "Hello, World!"
}

async fn db(State(database): Shared) -> Result<Json<World>, Response> {
    database.world().await.map(Json).map_err(failed)
}

async fn queries(State(database): Shared, Query(query): Query<Queries>) -> Result<Json<Vec<World>>, Response> {
    database.worlds(query.queries()).await.map(Json).map_err(failed)
}

async fn updates(State(database): Shared, Query(query): Query<Queries>) -> Result<Json<Vec<World>>, Response> {
    database.update(query.queries()).await.map(Json).map_err(failed)
}

async fn cached(State(database): Shared, Query(query): Query<Queries>) -> Result<Json<Vec<World>>, Response> {
    database.cached(query.count()).await.map(Json).map_err(failed)
}

async fn fortunes(State(database): Shared) -> Result<Html<String>, Response> {
    database.fortunes().await.map(Html).map_err(failed)
}

async fn serve(flags: Flags) -> Result<(), Box<dyn std::error::Error>> {
    let drive = |connection| drop(tokio::spawn(connection));
    let database = Database::connect(&flags, drive).await?;
    let router = Router::new()
        .route("/health", get(|| async {}))
        .route("/users/{id}", get(user))
        .route("/json", get(json))
        .route("/plaintext", get(plaintext))
        .route("/db", get(db))
        .route("/queries", get(queries))
        .route("/updates", get(updates))
        .route("/cached-queries", get(cached))
        .route("/fortunes", get(fortunes))
        .layer(SetResponseHeaderLayer::if_not_present(header::SERVER, HeaderValue::from_static("axum")))
        .with_state(Arc::new(database));
    let app = TowerToHyperService::new(router);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", flags.port)).await?;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true); // a connection that is gone already fails when it is served
        let connection = http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), app.clone());
        tokio::spawn(connection);
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Err(error) = runtime.block_on(serve(Flags::read())) {
        eprintln!("axum: {error}");
        std::process::exit(1);
    }
}

// SPDX-License-Identifier: Apache-2.0
