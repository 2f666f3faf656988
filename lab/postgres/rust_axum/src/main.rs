//! The duties of postgres_http_server with axum and tokio-postgres: one thread, CONNECTIONS clients that pipeline.
//!
//!     rust_axum PORT FOLDER DATABASE_PORT CONNECTIONS
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::{routing::get, Json, Router};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::Arc;
use tokio_postgres::{Client, NoTls, Statement};

#[derive(Serialize)]
struct User {
    id: i64,
    name: String,
    email: String,
    age: Option<i32>,
}

#[derive(Serialize)]
struct World {
    id: i32,
    #[serde(rename = "randomNumber")]
    random_number: i32,
}

#[derive(Deserialize)]
struct Count {
    count: Option<u16>,
}

struct Database {
    client: Client,
    user: Statement,
    world: Statement,
    update: Statement,
    fortunes: Statement,
}

struct App {
    databases: Vec<Database>,
    turn: AtomicUsize,
    random: AtomicU32,
}

impl App {
    fn database(&self) -> &Database {
        &self.databases[self.turn.fetch_add(1, Ordering::Relaxed) % self.databases.len()]
    }
    fn id(&self) -> i32 {
        let state = self.random.load(Ordering::Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random.store(state, Ordering::Relaxed);
        1 + ((u64::from(state) * 10_000) >> 32) as i32
    }
    async fn world(&self) -> Result<World, tokio_postgres::Error> {
        let database = self.database();
        let row = database.client.query_one(&database.world, &[&self.id()]).await?;
        Ok(World { id: row.get(0), random_number: row.get(1) })
    }
}

fn failed(_: tokio_postgres::Error) -> Response {
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

async fn user(State(app): State<Arc<App>>, Path(id): Path<i64>) -> Result<Response, Response> {
    let database = app.database();
    let row = database.client.query_opt(&database.user, &[&id]).await.map_err(failed)?;
    Ok(match row {
        Some(row) => Json(User { id: row.get(0), name: row.get(1), email: row.get(2), age: row.get(3) }).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

async fn one(State(app): State<Arc<App>>) -> Result<Json<World>, Response> {
    app.world().await.map(Json).map_err(failed)
}

async fn many(State(app): State<Arc<App>>, Query(query): Query<Count>) -> Result<Json<Vec<World>>, Response> {
    let count = query.count.unwrap_or(1).clamp(1, 500);
    let asked = (0..count).map(|_| app.world());
    futures_util::future::try_join_all(asked).await.map(Json).map_err(failed)
}

async fn updates(State(app): State<Arc<App>>, Query(query): Query<Count>) -> Result<Json<Vec<World>>, Response> {
    let count = query.count.unwrap_or(1).clamp(1, 500);
    let asked = (0..count).map(|_| app.world());
    let mut found = futures_util::future::try_join_all(asked).await.map_err(failed)?;
    found.sort_by_key(|world| world.id);
    for world in &mut found {
        world.random_number = app.id();
    }
    let ids: Vec<i32> = found.iter().map(|world| world.id).collect();
    let numbers: Vec<i32> = found.iter().map(|world| world.random_number).collect();
    let database = app.database();
    database.client.execute(&database.update, &[&ids, &numbers]).await.map_err(failed)?;
    Ok(Json(found))
}

const UPDATE: &str = "UPDATE world SET random_number = given.number \
    FROM (SELECT id, max(number) AS number FROM unnest($1::int[], $2::int[]) \
    AS pairs(id, number) GROUP BY id ORDER BY id) AS given WHERE world.id = given.id";

fn escape(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            other => into.push(other),
        }
    }
}

async fn fortunes(State(app): State<Arc<App>>) -> Result<Html<String>, Response> {
    let database = app.database();
    let rows = database.client.query(&database.fortunes, &[]).await.map_err(failed)?;
    let mut found: Vec<(i32, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    found.push((0, "Additional fortune added at request time.".to_owned()));
    found.sort_by(|left, right| left.1.cmp(&right.1));
    let mut page = String::from(
        "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>",
    );
    for (id, message) in &found {
        let _ = write!(page, "<tr><td>{id}</td><td>");
        escape(message, &mut page);
        page.push_str("</td></tr>");
    }
    page.push_str("</table></body></html>");
    Ok(Html(page))
}

async fn run(args: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut databases = Vec::new();
    for _ in 0..args[4].parse()? {
        let text = format!("host={} port={} dbname=bench user=katana", args[2], args[3]);
        let (client, connection) = tokio_postgres::connect(&text, NoTls).await?;
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let user = client.prepare("SELECT id, name, email, age FROM users WHERE id = $1").await?;
        let world = client.prepare("SELECT id, random_number FROM world WHERE id = $1").await?;
        let update = client.prepare(UPDATE).await?;
        let fortunes = client.prepare("SELECT id, message FROM fortune").await?;
        databases.push(Database { client, user, world, update, fortunes });
    }
    let app = Arc::new(App { databases, turn: AtomicUsize::new(0), random: AtomicU32::new(1) });
    let router = Router::new()
        .route("/health", get(|| async {}))
        .route("/users/:id", get(user))
        .route("/db", get(one))
        .route("/queries", get(many))
        .route("/updates", get(updates))
        .route("/fortunes", get(fortunes))
        .with_state(app);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", args[1].parse::<u16>()?)).await?;
    axum::serve(listener, router).tcp_nodelay(true).await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(std::env::args().collect()))
}
