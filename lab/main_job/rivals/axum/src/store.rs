//! Users in SQLite: its schema, its connections, and the three statements, each compiled once for a connection.
use r2d2_sqlite::rusqlite::{Connection, Error, ErrorCode, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, \
                      email TEXT NOT NULL UNIQUE) STRICT";
const PRAGMAS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192; \
                       PRAGMA busy_timeout = 5000;";

#[derive(Serialize)]
pub struct User {
    pub id: i64,
    pub name: String,
    pub email: String,
}

#[derive(Deserialize)]
pub struct NewUser {
    pub name: String,
    pub email: String,
}

/// Why a user was not added.
pub enum Refused {
    Taken,
    Failed(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Refused::Taken,
            _ => Refused::Failed(error),
        }
    }
}

pub fn prepare(connection: &mut Connection) -> Result<(), Error> {
    connection.execute_batch(PRAGMAS)
}

pub fn make_table(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch(SCHEMA)
}

fn read(row: &Row) -> Result<User, Error> {
    Ok(User { id: row.get(0)?, name: row.get(1)?, email: row.get(2)? })
}

pub fn find(connection: &Connection, id: i64) -> Result<Option<User>, Error> {
    connection.prepare_cached("SELECT id, name, email FROM users WHERE id = ?1")?.query_row([id], read).optional()
}

pub fn list(connection: &Connection, after: i64, limit: i64) -> Result<Vec<User>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT id, name, email FROM users WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let rows = statement.query_map([after, limit], read)?;
    rows.collect()
}

/// Committed when it returns, unless a transaction is open.
pub fn add(connection: &Connection, user: NewUser) -> Result<User, Refused> {
    connection.prepare_cached("INSERT INTO users (name, email) VALUES (?1, ?2)")?.execute([&user.name, &user.email])?;
    Ok(User { id: connection.last_insert_rowid(), name: user.name, email: user.email })
}

// SPDX-License-Identifier: Apache-2.0
