//! Users over SQLite by axum on tokio: readers of an r2d2 pool on tokio's blocking threads, and one writer.
//!
//!     main_job_axum --port PORT --database FILE [--group-commit] [--inline-reads]
//!
//! --group-commit: a thread writes all that wait in one transaction. --inline-reads: reads on the runtime's own threads.
mod store;
mod writer;

use std::net::SocketAddr;

use axum::{
    extract::{Path, Query, State},
    http::{header::LOCATION, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
    Json, Router,
};
use r2d2_sqlite::{
    rusqlite::{Connection, Error},
    SqliteConnectionManager,
};
use serde::Deserialize;
use serde_json::json;
use store::{NewUser, Refused, User};
use writer::Writer;

pub type Pool = r2d2::Pool<SqliteConnectionManager>;
const READERS: u32 = 4;

#[derive(Clone)]
struct Users {
    readers: Pool,
    writer: Writer,
    inline_reads: bool,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    after: i64,
    #[serde(default = "usual_limit")]
    limit: i64,
}

fn usual_limit() -> i64 {
    20
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

fn failed() -> Response {
    refused(StatusCode::INTERNAL_SERVER_ERROR, "the database failed")
}

impl Users {
    async fn read<T, F>(&self, ask: F) -> Option<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        if self.inline_reads {
            return ask(&*self.readers.get().ok()?).ok();
        }
        let readers = self.readers.clone();
        tokio::task::spawn_blocking(move || ask(&*readers.get().ok()?).ok()).await.ok()?
    }
}

async fn health() -> Json<serde_json::Value> {
    Json(json!({ "status": "pass" }))
}

async fn find(State(users): State<Users>, Path(id): Path<i64>) -> Response {
    match users.read(move |connection| store::find(connection, id)).await {
        Some(Some(user)) => Json(user).into_response(),
        Some(None) => refused(StatusCode::NOT_FOUND, "There is no such user."),
        None => failed(),
    }
}

async fn list(State(users): State<Users>, Query(page): Query<Page>) -> Response {
    if page.after < 0 || !(1..=100).contains(&page.limit) {
        return refused(StatusCode::BAD_REQUEST, "after is at least 0, limit 1 to 100");
    }
    // One more than was asked for says whether there is another page.
    let Some(mut found) = users.read(move |connection| store::list(connection, page.after, page.limit + 1)).await
    else {
        return failed();
    };
    let has_more = found.len() > page.limit as usize;
    found.truncate(page.limit as usize);
    let next = if has_more { found.last().map(|user| user.id) } else { None };
    Json(Found { users: found, next }).into_response()
}

#[derive(serde::Serialize)]
struct Found {
    users: Vec<User>,
    next: Option<i64>,
}

async fn add(State(users): State<Users>, Json(user): Json<NewUser>) -> Response {
    if !(1..=100).contains(&user.name.chars().count()) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "name has 1 to 100 characters");
    }
    if user.email.chars().count() > 200 || !user.email.contains('@') {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "email has an @, and at most 200 characters");
    }
    match users.writer.add(user).await {
        Some(Ok(user)) => {
            (StatusCode::CREATED, [(LOCATION, format!("/users/{}", user.id))], Json(user)).into_response()
        }
        Some(Err(Refused::Taken)) => refused(StatusCode::CONFLICT, "Another user has this e-mail address."),
        Some(Err(Refused::Failed(_))) | None => failed(),
    }
}

struct Flags {
    port: u16,
    database: String,
    group_commit: bool,
    inline_reads: bool,
}

fn read_flags() -> Option<Flags> {
    let mut flags = Flags { port: 0, database: String::new(), group_commit: false, inline_reads: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => flags.port = arguments.next()?.parse().ok()?,
            "--database" => flags.database = arguments.next()?,
            "--group-commit" => flags.group_commit = true,
            "--inline-reads" => flags.inline_reads = true,
            _ => return None,
        }
    }
    (flags.port > 0 && !flags.database.is_empty()).then_some(flags)
}

fn pool(file: &str, size: u32) -> Result<Pool, r2d2::Error> {
    r2d2::Pool::builder()
        .max_size(size)
        .test_on_check_out(false)
        .build(SqliteConnectionManager::file(file).with_init(store::prepare))
}

fn open(flags: &Flags) -> Result<Users, Box<dyn std::error::Error>> {
    let mut connection = Connection::open(&flags.database)?;
    store::prepare(&mut connection)?;
    store::make_table(&connection)?;
    let readers = pool(&flags.database, READERS)?;
    let writer =
        if flags.group_commit { Writer::group(connection) } else { Writer::Single(pool(&flags.database, 1)?) };
    Ok(Users { readers, writer, inline_reads: flags.inline_reads })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flags = read_flags().ok_or("usage: main_job_axum --port PORT --database FILE")?;
    let routes = Router::new()
        .route("/health", get(health))
        .route("/users", get(list).post(add))
        .route("/users/{id}", get(find))
        .with_state(open(&flags)?);
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], flags.port))).await?;
    use axum::serve::ListenerExt;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true); // a connection that is gone fails when it is served
    });
    axum::serve(listener, routes).await?;
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
