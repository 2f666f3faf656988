//! GET /health by axum with tracing-opentelemetry: a span for each request, sent by OTLP over HTTP.
//!
//!     telemetry_axum --port PORT [--collector URL] [--ratio R] [--gzip]
//!
//! Without a collector there is no telemetry: the handler alone.
use axum::{routing::get, Router};
use axum_tracing_opentelemetry::middleware::OtelAxumLayer;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Compression, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{propagation::TraceContextPropagator, trace::{Sampler, SdkTracerProvider}};
use tokio::signal::unix::{signal, SignalKind};
use tracing_subscriber::layer::SubscriberExt;

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|each| each != name).nth(1)
}

fn start(collector: &str, ratio: f64) -> SdkTracerProvider {
    let mut exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{collector}/v1/traces"));
    if std::env::args().any(|each| each == "--gzip") {
        exporter = exporter.with_compression(Compression::Gzip);
    }
    let exporter = exporter.build().expect("an exporter");
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio))))
        .build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).expect("the first subscriber");
    provider
}

fn main() {
    let port = argument("--port").expect("--port PORT");
    let ratio = argument("--ratio").map_or(1.0, |text| text.parse().expect("a number"));
    let provider = argument("--collector").map(|url| start(&url, ratio));
    let mut routes = Router::new().route("/health", get(|| async { "Hello, World!" }));
    if provider.is_some() {
        routes = routes.layer(OtelAxumLayer::default());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("a port");
        println!("axum: listening on http://{} (axum)", listener.local_addr().expect("an address"));
        let mut ended = signal(SignalKind::terminate()).expect("a signal");
        tokio::select! {
            served = axum::serve(listener, routes) => served.expect("a server"),
            _ = ended.recv() => {}
        }
    });
    if let Some(provider) = provider {
        let _ = provider.shutdown(); // sends the rest
    }
}
