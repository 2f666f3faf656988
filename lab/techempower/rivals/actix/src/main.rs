//! actix-web with one worker, which has tokio-postgres to itself, as TechEmpower's actix has it.
use actix_web::http::header::{HeaderValue, CONTENT_TYPE, SERVER};
use actix_web::web::{self, Data, Path, Query};
use actix_web::{error, App, HttpResponse, HttpResponseBuilder, HttpServer, Result};
use rust_common::{Database, Flags, Message, Queries};

fn ok() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((SERVER, HeaderValue::from_static("actix")));
    response
}

async fn health() -> HttpResponse {
    ok().finish()
}

async fn user(database: Data<Database>, id: Path<i64>) -> Result<HttpResponse> {
    let found = database.user(*id).await.map_err(error::ErrorInternalServerError)?;
    Ok(found.map_or_else(|| HttpResponse::NotFound().finish(), |user| ok().json(user)))
}

async fn json() -> HttpResponse {
    ok().json(Message { message: "Hello, World!" })
}

async fn plaintext() -> HttpResponse {
    ok().insert_header((CONTENT_TYPE, HeaderValue::from_static("text/plain"))).body("Hello, World!")
}

async fn db(database: Data<Database>) -> Result<HttpResponse> {
    database.world().await.map(|world| ok().json(world)).map_err(error::ErrorInternalServerError)
}

async fn queries(database: Data<Database>, query: Query<Queries>) -> Result<HttpResponse> {
    let worlds = database.worlds(query.queries()).await;
    worlds.map(|worlds| ok().json(worlds)).map_err(error::ErrorInternalServerError)
}

async fn updates(database: Data<Database>, query: Query<Queries>) -> Result<HttpResponse> {
    let worlds = database.update(query.queries()).await;
    worlds.map(|worlds| ok().json(worlds)).map_err(error::ErrorInternalServerError)
}

async fn cached(database: Data<Database>, query: Query<Queries>) -> Result<HttpResponse> {
    let worlds = database.cached(query.count()).await;
    worlds.map(|worlds| ok().json(worlds)).map_err(error::ErrorInternalServerError)
}

async fn fortunes(database: Data<Database>) -> Result<HttpResponse> {
    let page = database.fortunes().await.map_err(error::ErrorInternalServerError)?;
    Ok(ok().insert_header((CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))).body(page))
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let flags = Flags::read();
    let port = flags.port;
    HttpServer::new(move || {
        let flags = flags.clone();
        let connect = move || {
            let flags = flags.clone();
            async move { Database::connect(&flags, |connection| drop(actix_web::rt::spawn(connection))).await }
        };
        App::new()
            .data_factory(connect)
            .route("/health", web::get().to(health))
            .route("/users/{id}", web::get().to(user))
            .route("/json", web::get().to(json))
            .route("/plaintext", web::get().to(plaintext))
            .route("/db", web::get().to(db))
            .route("/queries", web::get().to(queries))
            .route("/updates", web::get().to(updates))
            .route("/cached-queries", web::get().to(cached))
            .route("/fortunes", web::get().to(fortunes))
    })
    .workers(1)
    .bind(("127.0.0.1", port))?
    .run()
    .await
}

// SPDX-License-Identifier: Apache-2.0
