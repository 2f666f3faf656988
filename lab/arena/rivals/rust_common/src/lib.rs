//! What the rivals in Rust share: their flags, the data set as ARENA's profiles show it, and certificates.
use std::{env, fs, io, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// The flags that every server of the arena has; a port that is 0 is not listened on.
#[derive(Default, Clone)]
pub struct Flags {
    pub h1: u16,
    pub h1_tls: u16,
    pub h2c: u16,
    pub tls: u16,
    pub static_folder: String,
    pub dataset: String,
    pub cert: String,
    pub key: String,
    pub threads: usize,
}

fn number<T: FromStr>(name: &str, text: &str) -> T {
    text.parse().unwrap_or_else(|_| fail(&format!("{name} '{text}': not a number in range")))
}

/// One line, and exit status 2.
pub fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2)
}

impl Flags {
    pub fn read() -> Flags {
        let mut flags = Flags { threads: 1, ..Flags::default() };
        let mut arguments = env::args().skip(1);
        while let Some(name) = arguments.next() {
            let text = arguments.next().unwrap_or_else(|| fail(&format!("{name}: a value is missing")));
            match name.as_str() {
                "--h1" => flags.h1 = number(&name, &text),
                "--h1-tls" => flags.h1_tls = number(&name, &text),
                "--h2c" => flags.h2c = number(&name, &text),
                "--tls" => flags.tls = number(&name, &text),
                "--threads" => flags.threads = number(&name, &text),
                "--static" => flags.static_folder = text,
                "--dataset" => flags.dataset = text,
                "--cert" => flags.cert = text,
                "--key" => flags.key = text,
                _ => fail(&format!("{name}: unknown flag")),
            }
        }
        flags
    }

    pub fn items(&self) -> Vec<Item> {
        let text = fs::read_to_string(&self.dataset)
            .unwrap_or_else(|error| fail(&format!("--dataset '{}': {error}", self.dataset)));
        serde_json::from_str(&text).unwrap_or_else(|error| fail(&format!("--dataset '{}': {error}", self.dataset)))
    }

    /// TLS of the two ports that have it; `protocols` are for ALPN.
    pub fn server_config(&self, protocols: &[&[u8]]) -> rustls::ServerConfig {
        let open = |path: &str| {
            fs::File::open(path).map(io::BufReader::new).unwrap_or_else(|error| fail(&format!("'{path}': {error}")))
        };
        let certificates = rustls_pemfile::certs(&mut open(&self.cert))
            .collect::<Result<Vec<_>, _>>()
            .unwrap_or_else(|error| fail(&format!("--cert '{}': {error}", self.cert)));
        let key = rustls_pemfile::private_key(&mut open(&self.key)).ok().flatten();
        let key = key.unwrap_or_else(|| fail(&format!("--key '{}': no private key", self.key)));
        let mut config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap_or_else(|error| fail(&format!("--cert '{}': {error}", self.cert)));
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        config
    }

    pub fn tls_config(&self, protocols: &[&[u8]]) -> Arc<rustls::ServerConfig> {
        Arc::new(self.server_config(protocols))
    }
}

#[derive(Serialize, Deserialize, Clone)]
pub struct Rating {
    pub score: i64,
    pub count: i64,
}

#[derive(Serialize, Deserialize, Clone)]
pub struct Item {
    pub id: i64,
    pub name: String,
    pub category: String,
    pub price: i64,
    pub quantity: i64,
    pub active: bool,
    pub tags: Vec<String>,
    pub rating: Rating,
}

/// An item as it is answered: with its total. Not by serde's `flatten`, which builds a map first.
#[derive(Serialize)]
pub struct Priced<'a> {
    id: i64,
    name: &'a str,
    category: &'a str,
    price: i64,
    quantity: i64,
    active: bool,
    tags: &'a [String],
    rating: &'a Rating,
    total: i64,
}

impl<'a> Priced<'a> {
    fn new(item: &'a Item, m: i64) -> Priced<'a> {
        Priced {
            id: item.id,
            name: &item.name,
            category: &item.category,
            price: item.price,
            quantity: item.quantity,
            active: item.active,
            tags: &item.tags,
            rating: &item.rating,
            total: item.price * item.quantity * m,
        }
    }
}

#[derive(Serialize)]
pub struct Answer<'a> {
    items: Vec<Priced<'a>>,
    count: usize,
}

/// The first `count` items with price × quantity × m.
pub fn answer(items: &[Item], count: usize, m: i64) -> Answer<'_> {
    let chosen = &items[..count.min(items.len())];
    let items = chosen.iter().map(|item| Priced::new(item, m)).collect();
    Answer { items, count: chosen.len() }
}

#[derive(Deserialize)]
pub struct Sum {
    pub a: i64,
    pub b: i64,
}

fn one() -> i64 {
    1
}

#[derive(Deserialize)]
pub struct Factor {
    #[serde(default = "one")]
    pub m: i64,
}

// SPDX-License-Identifier: Apache-2.0
