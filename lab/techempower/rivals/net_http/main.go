// net_http: the standard library's server, router, JSON and templates, with pgx and its pool.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

var page = template.Must(template.New("fortunes").Parse("<!DOCTYPE html><html><head><title>Fortunes</title></head>" +
	"<body><table><tr><th>id</th><th>message</th></tr>" +
	"{{range .}}<tr><td>{{.ID}}</td><td>{{.Message}}</td></tr>{{end}}</table></body></html>"))

type message struct {
	Message string `json:"message"`
}

// clamped is a number of the query: what is none, or below 1, is 1; above 500 it is 500.
func clamped(request *http.Request, name string) int {
	number, err := strconv.Atoi(request.URL.Query().Get(name))
	if err != nil {
		return 1
	}
	return max(1, min(number, 500))
}

func answer(writer http.ResponseWriter, value any, err error) {
	writer.Header().Set("Server", "Go")
	if errors.Is(err, pgx.ErrNoRows) {
		writer.WriteHeader(http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(writer, "the database failed", http.StatusInternalServerError)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(writer).Encode(value)
}

func plaintext(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Server", "Go")
	writer.Header().Set("Content-Type", "text/plain")
	writer.Write([]byte("Hello, World!"))
}

func (database *database) answerFortunes(writer http.ResponseWriter, request *http.Request) {
	found, err := database.fortunes(request.Context())
	if err != nil {
		answer(writer, nil, err)
		return
	}
	found = append(found, fortune{0, "Additional fortune added at request time."})
	slices.SortFunc(found, func(left, right fortune) int { return cmp.Compare(left.Message, right.Message) })
	writer.Header().Set("Server", "Go")
	writer.Header().Set("Content-Type", "text/html; charset=utf-8")
	page.Execute(writer, found)
}

func (database *database) answerUser(writer http.ResponseWriter, request *http.Request) {
	id, err := strconv.ParseInt(request.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(writer, "an id is a number", http.StatusBadRequest)
		return
	}
	found, err := database.user(request.Context(), id)
	answer(writer, found, err)
}

// many answers with as many worlds as the query says.
func many(name string, find func(context.Context, int) ([]world, error)) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		found, err := find(request.Context(), clamped(request, name))
		answer(writer, found, err)
	}
}

func routes(database *database) *http.ServeMux {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	routes.HandleFunc("GET /users/{id}", database.answerUser)
	routes.HandleFunc("GET /json", func(writer http.ResponseWriter, _ *http.Request) {
		answer(writer, message{"Hello, World!"}, nil)
	})
	routes.HandleFunc("GET /plaintext", plaintext)
	routes.HandleFunc("GET /db", func(writer http.ResponseWriter, request *http.Request) {
		found, err := database.find(request.Context(), random())
		answer(writer, found, err)
	})
	routes.HandleFunc("GET /queries", many("queries", database.worlds))
	routes.HandleFunc("GET /updates", many("queries", database.update))
	routes.HandleFunc("GET /cached-queries", many("count", database.cached))
	routes.HandleFunc("GET /fortunes", database.answerFortunes)
	return routes
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "net_http:", err)
	os.Exit(1)
}

func main() {
	port := flag.Int("port", 8080, "on 127.0.0.1")
	url := flag.String("database", "", "postgresql://…")
	connections := flag.Int("connections", 1, "to the database")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	database, err := connect(context.Background(), *url, *connections)
	if err != nil {
		fail(err)
	}
	fail(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), routes(database)))
}

// SPDX-License-Identifier: Apache-2.0
