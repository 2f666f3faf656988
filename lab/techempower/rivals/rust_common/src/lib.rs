//! What the rivals in Rust share: flags, rows, the database, the cache and the page of fortunes.
use futures_util::future::{try_join_all, Future};
use quick_cache::sync::Cache;
use sailfish::TemplateSimple;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_postgres::{Client, Error, NoTls, Row, Socket, Statement};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub const ROWS: i32 = 10_000;
const UPDATE: &str = "UPDATE world SET randomnumber = given.number \
    FROM (SELECT id, max(number) AS number FROM unnest($1::int[], $2::int[]) \
    AS pairs(id, number) GROUP BY id ORDER BY id) AS given WHERE world.id = given.id";

/// `--port PORT --database URL --connections N`
#[derive(Clone)]
pub struct Flags {
    pub port: u16,
    pub database: String,
    pub connections: usize,
}

impl Flags {
    pub fn read() -> Flags {
        let mut flags = Flags { port: 8080, database: String::new(), connections: 1 };
        let args: Vec<String> = std::env::args().skip(1).collect();
        for pair in args.chunks(2) {
            match pair {
                [name, value] if name == "--port" => flags.port = value.parse().expect("--port"),
                [name, value] if name == "--database" => flags.database = value.clone(),
                [name, value] if name == "--connections" => flags.connections = value.parse().expect("--connections"),
                _ => panic!("flags: --port PORT --database URL --connections N"),
            }
        }
        flags
    }
}

#[derive(Serialize)]
pub struct Message {
    pub message: &'static str,
}

#[derive(Serialize)]
pub struct User {
    pub id: i64,
    pub name: String,
    pub email: String,
    pub age: Option<i32>,
}

#[derive(Serialize)]
pub struct World {
    pub id: i32,
    #[serde(rename = "randomNumber")]
    pub random_number: i32,
}

pub struct Fortune {
    pub id: i32,
    pub message: String,
}

#[derive(TemplateSimple)]
#[template(path = "fortunes.stpl")]
struct Page<'a> {
    fortunes: &'a [Fortune],
}

/// `queries=` and `count=`: what is no number, or below 1, is 1; above 500 it is 500.
#[derive(Deserialize)]
pub struct Queries {
    queries: Option<String>,
    count: Option<String>,
}

impl Queries {
    pub fn queries(&self) -> usize {
        clamped(&self.queries)
    }
    pub fn count(&self) -> usize {
        clamped(&self.count)
    }
}

fn clamped(text: &Option<String>) -> usize {
    let number: i64 = text.as_deref().and_then(|text| text.parse().ok()).unwrap_or(1);
    number.clamp(1, 500) as usize
}

fn random() -> i32 {
    fastrand::i32(1..=ROWS)
}

/// A client that pipelines, with its statements.
struct Link {
    client: Client,
    user: Statement,
    world: Statement,
    update: Statement,
    fortunes: Statement,
}

/// Connections that are used in turn.
pub struct Database {
    links: Vec<Link>,
    turn: AtomicUsize,
    cache: Cache<i32, i32>,
}

type Connection = tokio_postgres::Connection<Socket, tokio_postgres::tls::NoTlsStream>;

fn world_of(row: Row) -> World {
    World { id: row.get(0), random_number: row.get(1) }
}

impl Database {
    /// `spawn` runs what drives a connection.
    pub async fn connect(flags: &Flags, spawn: impl Fn(Connection)) -> Result<Database, Error> {
        let mut links = Vec::new();
        for _ in 0..flags.connections {
            let (client, connection) = tokio_postgres::connect(&flags.database, NoTls).await?;
            spawn(connection);
            let user = client.prepare("SELECT id, name, email, age FROM users WHERE id = $1").await?;
            let world = client.prepare("SELECT id, randomnumber FROM world WHERE id = $1").await?;
            let update = client.prepare(UPDATE).await?;
            let fortunes = client.prepare("SELECT id, message FROM fortune").await?;
            links.push(Link { client, user, world, update, fortunes });
        }
        // Twice the rows: its shards are not filled evenly, and none is to give way.
        Ok(Database { links, turn: AtomicUsize::new(0), cache: Cache::new(2 * ROWS as usize) })
    }

    fn link(&self) -> &Link {
        &self.links[self.turn.fetch_add(1, Ordering::Relaxed) % self.links.len()]
    }

    pub async fn user(&self, id: i64) -> Result<Option<User>, Error> {
        let link = self.link();
        let row = link.client.query_opt(&link.user, &[&id]).await?;
        Ok(row.map(|row| User { id: row.get(0), name: row.get(1), email: row.get(2), age: row.get(3) }))
    }

    async fn find(&self, id: i32) -> Result<World, Error> {
        let link = self.link();
        link.client.query_one(&link.world, &[&id]).await.map(world_of)
    }

    pub fn world(&self) -> impl Future<Output = Result<World, Error>> + '_ {
        self.find(random())
    }

    pub async fn worlds(&self, count: usize) -> Result<Vec<World>, Error> {
        try_join_all((0..count).map(|_| self.world())).await
    }

    pub async fn update(&self, count: usize) -> Result<Vec<World>, Error> {
        let mut worlds = self.worlds(count).await?;
        worlds.sort_unstable_by_key(|world| world.id);
        for world in &mut worlds {
            world.random_number = random();
        }
        let (ids, numbers): (Vec<i32>, Vec<i32>) =
            worlds.iter().map(|world| (world.id, world.random_number)).unzip();
        let link = self.link();
        link.client.execute(&link.update, &[&ids, &numbers]).await?;
        Ok(worlds)
    }

    pub async fn cached(&self, count: usize) -> Result<Vec<World>, Error> {
        let mut worlds = Vec::with_capacity(count);
        for _ in 0..count {
            let id = random();
            let load = async { self.find(id).await.map(|world| world.random_number) };
            worlds.push(World { id, random_number: self.cache.get_or_insert_async(&id, load).await? });
        }
        Ok(worlds)
    }

    pub async fn fortunes(&self) -> Result<String, Error> {
        let link = self.link();
        let rows = link.client.query(&link.fortunes, &[]).await?;
        let mut fortunes: Vec<Fortune> =
            rows.iter().map(|row| Fortune { id: row.get(0), message: row.get(1) }).collect();
        fortunes.push(Fortune { id: 0, message: "Additional fortune added at request time.".to_owned() });
        fortunes.sort_unstable_by(|left, right| left.message.cmp(&right.message));
        Ok(Page { fortunes: &fortunes }.render_once().expect("the template cannot fail"))
    }
}

// SPDX-License-Identifier: Apache-2.0
