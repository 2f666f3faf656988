// net_http: the standard library's server and router, gzhttp for compression, gorilla's WebSocket.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/klauspost/compress/gzhttp"

	"katana/lab/arena/rivals/go_common"
)

var upgrader = websocket.Upgrader{}

func text(writer http.ResponseWriter, number int) {
	writer.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(writer, number)
}

func sum(writer http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	a, wrongA := strconv.Atoi(query.Get("a"))
	b, wrongB := strconv.Atoi(query.Get("b"))
	if wrongA != nil || wrongB != nil {
		http.Error(writer, "a and b are numbers", http.StatusBadRequest)
		return
	}
	if request.Method == http.MethodPost {
		body, err := io.ReadAll(request.Body)
		third, wrong := strconv.Atoi(strings.TrimSpace(string(body)))
		if err != nil || wrong != nil {
			http.Error(writer, "the body is a number", http.StatusBadRequest)
			return
		}
		a += third
	}
	text(writer, a+b)
}

func pipeline(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Content-Type", "text/plain")
	io.WriteString(writer, "ok")
}

func priced(items []go_common.Item) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		count, err := strconv.Atoi(request.PathValue("count"))
		m := 1
		if given := request.URL.Query().Get("m"); given != "" && err == nil {
			m, err = strconv.Atoi(given)
		}
		if err != nil {
			http.Error(writer, "count and m are numbers", http.StatusBadRequest)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		json.NewEncoder(writer).Encode(go_common.Price(items, count, m))
	}
}

func delay(writer http.ResponseWriter, request *http.Request) {
	ms, err := strconv.Atoi(request.PathValue("ms"))
	if err != nil {
		http.Error(writer, "ms is a number", http.StatusBadRequest)
		return
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	text(writer, ms)
}

func echoBody(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(writer, "the body broke off", http.StatusBadRequest)
		return
	}
	writer.Header().Set("Content-Type", "application/octet-stream")
	writer.Write(body)
}

func upload(writer http.ResponseWriter, request *http.Request) {
	size, err := io.Copy(io.Discard, request.Body)
	if err != nil {
		http.Error(writer, "the body broke off", http.StatusBadRequest)
		return
	}
	text(writer, int(size))
}

func echo(writer http.ResponseWriter, request *http.Request) {
	connection, err := upgrader.Upgrade(writer, request, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer connection.Close()
	for {
		kind, message, err := connection.ReadMessage()
		if err != nil || connection.WriteMessage(kind, message) != nil {
			return
		}
	}
}

func serve(port int, handler http.Handler, flags go_common.Flags, secure, h1, h2 bool, failed chan<- error) {
	if port == 0 {
		return
	}
	server := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), Handler: handler, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(h1)
	server.Protocols.SetHTTP2(h2 && secure)
	server.Protocols.SetUnencryptedHTTP2(h2 && !secure)
	if secure {
		failed <- server.ListenAndServeTLS(flags.Cert, flags.Key)
	} else {
		failed <- server.ListenAndServe()
	}
}

func main() {
	flags := go_common.Read()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /baseline11", sum)
	routes.HandleFunc("POST /baseline11", sum)
	routes.HandleFunc("GET /baseline2", sum)
	routes.HandleFunc("GET /pipeline", pipeline)
	routes.HandleFunc("GET /json/{count}", gzhttp.GzipHandler(priced(flags.Items())))
	routes.HandleFunc("GET /delay/{ms}", delay)
	routes.HandleFunc("POST /echo", echoBody)
	routes.HandleFunc("POST /upload", upload)
	routes.HandleFunc("GET /ws", echo)
	routes.Handle("GET /static/", http.StripPrefix("/static/", http.FileServer(http.Dir(flags.Static))))
	failed := make(chan error)
	go serve(flags.H1, routes, flags, false, true, false, failed)
	go serve(flags.H1TLS, routes, flags, true, true, false, failed)
	go serve(flags.H2C, routes, flags, false, false, true, failed)
	go serve(flags.TLS, routes, flags, true, true, true, failed)
	go_common.Fail(<-failed)
}

// SPDX-License-Identifier: Apache-2.0
