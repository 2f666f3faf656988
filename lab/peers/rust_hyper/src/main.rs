//! rust_hyper PORT THREADS: answers 200 "Hello, World!" to every request, on 127.0.0.1.
//! Each thread has its own runtime and its own listener (SO_REUSEPORT): the arrangement that hyper is fastest with.
use std::{convert::Infallible, env, net::SocketAddr, thread};

use http_body_util::Full;
use hyper::{body::Bytes, header, server::conn::http1, service::service_fn, Request, Response};
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};

async fn answer(_: Request<hyper::body::Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello, World!")));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain"));
    response
        .headers_mut()
        .insert(header::SERVER, header::HeaderValue::from_static("hyper"));
    Ok(response)
}

fn listen(port: u16) -> std::io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], port)).into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}

fn serve(port: u16) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let listener = tokio::net::TcpListener::from_std(listen(port)?)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _ = stream.set_nodelay(true); // a connection that is gone already fails when it is served
            tokio::task::spawn_local(async move {
                let connection = http1::Builder::new()
                    .pipeline_flush(true)
                    .serve_connection(TokioIo::new(stream), service_fn(answer));
                let _ = connection.await; // a peer that resets is no failure of the server
            });
        }
    })
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let (Some(Ok(port)), Some(Ok(threads))) = (
        arguments.get(1).map(|text| text.parse::<u16>()),
        arguments.get(2).map(|text| text.parse::<usize>()),
    ) else {
        eprintln!("usage: rust_hyper PORT THREADS");
        std::process::exit(2);
    };
    let workers: Vec<_> = (0..threads.max(1)).map(|_| thread::spawn(move || serve(port))).collect();
    for worker in workers {
        if let Ok(Err(error)) = worker.join() {
            eprintln!("rust_hyper: {error}");
            std::process::exit(1);
        }
    }
}
