//! actix-web: one server for each port, extractors and responders, its Compress middleware, actix-files and actix-ws.
use std::time::Duration;

use actix_files::Files;
use actix_web::{
    guard,
    http::Version,
    middleware::Compress,
    web::{self, Bytes, Data, Path, Payload, Query, ServiceConfig},
    App, HttpRequest, HttpResponse, HttpServer, Result,
};
use futures_util::{future, StreamExt};
use rust_common::{answer, Factor, Flags, Item, Sum};

async fn sum(query: Query<Sum>) -> String {
    (query.a + query.b).to_string()
}

async fn sum_with_body(query: Query<Sum>, body: String) -> Result<String> {
    let third: i64 = body.trim().parse().map_err(actix_web::error::ErrorBadRequest)?;
    Ok((query.a + query.b + third).to_string())
}

async fn pipeline() -> &'static str {
    "ok"
}

async fn delay(ms: Path<u64>) -> String {
    actix_web::rt::time::sleep(Duration::from_millis(*ms)).await;
    ms.to_string()
}

async fn echo_body(body: Bytes) -> HttpResponse {
    HttpResponse::Ok().content_type("application/octet-stream").body(body)
}

async fn json(items: Data<Vec<Item>>, count: Path<usize>, factor: Query<Factor>) -> HttpResponse {
    HttpResponse::Ok().json(answer(&items, *count, factor.m))
}

async fn upload(mut payload: Payload) -> Result<String> {
    let mut size = 0;
    while let Some(piece) = payload.next().await {
        size += piece?.len();
    }
    Ok(size.to_string())
}

async fn echo(request: HttpRequest, body: Payload) -> Result<HttpResponse> {
    let (response, mut session, mut messages) = actix_ws::handle(&request, body)?;
    actix_web::rt::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            let sent = match message {
                actix_ws::Message::Text(text) => session.text(text).await,
                actix_ws::Message::Binary(octets) => session.binary(octets).await,
                actix_ws::Message::Ping(octets) => session.pong(&octets).await,
                actix_ws::Message::Close(reason) => {
                    let _ = session.close(reason).await; // the peer may be gone
                    return;
                }
                _ => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
    });
    Ok(response)
}

fn routes(config: &mut ServiceConfig, folder: &str) {
    config
        .route("/baseline11", web::get().to(sum))
        .route("/baseline11", web::post().to(sum_with_body))
        .route("/baseline2", web::get().to(sum))
        .route("/pipeline", web::get().to(pipeline))
        .route("/delay/{ms}", web::get().to(delay))
        .route("/echo", web::post().to(echo_body))
        .service(web::resource("/json/{count}").wrap(Compress::default()).route(web::get().to(json)))
        .route("/upload", web::post().to(upload))
        .route("/ws", web::get().to(echo))
        .service(Files::new("/static", folder).try_compressed());
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let flags = Flags::read();
    let items = Data::new(flags.items());
    let folder = flags.static_folder.clone();
    let (data, files) = (items.clone(), folder.clone());
    let whole = HttpServer::new(move || App::new().app_data(data.clone()).configure(|config| routes(config, &files)))
        .workers(flags.threads);
    let whole = if flags.h1 != 0 { whole.bind(("127.0.0.1", flags.h1))? } else { whole };
    let whole = if flags.h1_tls != 0 {
        whole.bind_rustls_0_23(("127.0.0.1", flags.h1_tls), flags.server_config(&[]))?
    } else {
        whole
    };
    let whole = if flags.tls != 0 {
        whole.bind_rustls_0_23(("127.0.0.1", flags.tls), flags.server_config(&[]))?
    } else {
        whole
    };
    if flags.h2c == 0 {
        return whole.run().await;
    }
    // bind_auto_h2c() takes HTTP/1.1 as well: a guard refuses it on this port.
    let h2c = HttpServer::new(move || {
        let only = web::scope("").guard(guard::fn_guard(|context| context.head().version == Version::HTTP_2));
        App::new().app_data(items.clone()).service(only.configure(|config| routes(config, &folder)))
    })
    .workers(flags.threads)
    .bind_auto_h2c(("127.0.0.1", flags.h2c))?;
    future::try_join(whole.run(), h2c.run()).await.map(|_| ())
}

// SPDX-License-Identifier: Apache-2.0
