// GET /health by net/http with OpenTelemetry's SDK: a span for each request, sent by OTLP over HTTP.
//
//	net_http --port PORT --collector URL [--ratio R] [--gzip]
//
// Without a collector there is no telemetry: the handler alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	port := flag.Int("port", 0, "of 127.0.0.1")
	collector := flag.String("collector", "", "URL of OTLP; empty: no telemetry")
	ratio := flag.Float64("ratio", 1, "of the traces that are recorded")
	gzip := flag.Bool("gzip", false, "compress what is sent")
	flag.Parse()

	routes := http.NewServeMux()
	routes.HandleFunc("GET /health", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/plain")
		_, _ = to.Write([]byte("Hello, World!"))
	})
	var handler http.Handler = routes
	var provider *trace.TracerProvider
	if *collector != "" {
		compression := otlptracehttp.NoCompression
		if *gzip {
			compression = otlptracehttp.GzipCompression
		}
		exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(*collector+"/v1/traces"),
			otlptracehttp.WithCompression(compression))
		if err != nil {
			log.Fatal(err)
		}
		provider = trace.NewTracerProvider(
			trace.WithBatcher(exporter), trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(*ratio))))
		otel.SetTracerProvider(provider)
		otel.SetTextMapPropagator(propagation.TraceContext{})
		handler = otelhttp.NewHandler(routes, "GET /health")
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM)
	go func() {
		<-stopped
		if provider != nil {
			_ = provider.Shutdown(context.Background())
		}
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("net_http: listening on http://%s (net/http)\n", listener.Addr())
	log.Fatal(http.Serve(listener, handler))
}

// SPDX-License-Identifier: Apache-2.0
