//! Who adds users: a pool of one connection, as is usual, or a thread that takes all that wait in one transaction.
use std::thread;

use r2d2_sqlite::rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{
    store::{self, NewUser, Refused, User},
    Pool,
};

const GROUP_MAX: usize = 256;
const WAITING_MAX: usize = 8192;

type Answer = Result<User, Refused>;
type Waiting = (NewUser, oneshot::Sender<Answer>);

#[derive(Clone)]
pub enum Writer {
    Single(Pool),
    Group(mpsc::Sender<Waiting>),
}

impl Writer {
    pub fn group(connection: Connection) -> Writer {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        thread::spawn(move || write_groups(connection, receiver));
        Writer::Group(sender)
    }

    /// On the disk when it returns; nothing: it could not be asked.
    pub async fn add(&self, user: NewUser) -> Option<Answer> {
        match self {
            Writer::Single(pool) => {
                let pool = pool.clone();
                let added = move || Some(store::add(&*pool.get().ok()?, user));
                tokio::task::spawn_blocking(added).await.ok()?
            }
            Writer::Group(sender) => {
                let (answer, answered) = oneshot::channel();
                sender.send((user, answer)).await.ok()?;
                answered.await.ok()
            }
        }
    }
}

fn write_groups(connection: Connection, mut receiver: mpsc::Receiver<Waiting>) {
    let mut waiting = Vec::with_capacity(GROUP_MAX);
    while receiver.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
        if connection.execute_batch("BEGIN IMMEDIATE").is_err() {
            waiting.clear(); // whoever waits sees that nobody will answer
            continue;
        }
        // A user that is refused undoes no other: a constraint undoes its own statement.
        let added: Vec<_> = waiting.drain(..).map(|(user, answer)| (store::add(&connection, user), answer)).collect();
        if connection.execute_batch("COMMIT").is_err() {
            let _ = connection.execute_batch("ROLLBACK"); // it may be undone already
            continue;
        }
        for (done, answer) in added {
            let _ = answer.send(done); // its client may be gone
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
