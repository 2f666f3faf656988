// net_http: users over SQLite by the standard library's server and mattn/go-sqlite3: a pool of readers, one writer, and
// each statement prepared once.
//
//	net_http --port PORT --database FILE
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-sqlite3"
)

const (
	readers = 4
	schema  = "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, " +
		"email TEXT NOT NULL UNIQUE) STRICT"
	options = "_journal_mode=WAL&_synchronous=FULL&_cache_size=-8192&_busy_timeout=5000"
	bodyMax = 1 << 20
)

type user struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

type newUser struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type page struct {
	Users []user `json:"users"`
	Next  *int64 `json:"next"`
}

type problem struct {
	Error string `json:"error"`
}

// Statements are asked without the request's context: the driver watches one by a goroutine for each query, which costs
// more than these reads, and a write whose client leaves is not to be interrupted.
type users struct{ find, list, add *sql.Stmt }

func connect(file, more string, connections int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite3", "file:"+file+"?"+options+more)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

func open(file string) (*users, error) {
	writer, err := connect(file, "&_txlock=immediate", 1)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Exec(schema); err != nil {
		return nil, err
	}
	reader, err := connect(file, "", readers)
	if err != nil {
		return nil, err
	}
	var found users
	for _, each := range []struct {
		into *(*sql.Stmt)
		pool *sql.DB
		text string
	}{
		{&found.find, reader, "SELECT id, name, email FROM users WHERE id = ?"},
		{&found.list, reader, "SELECT id, name, email FROM users WHERE id > ? ORDER BY id LIMIT ?"},
		{&found.add, writer, "INSERT INTO users (name, email) VALUES (?, ?)"},
	} {
		if *each.into, err = each.pool.Prepare(each.text); err != nil {
			return nil, err
		}
	}
	return &found, nil
}

func answer(writer http.ResponseWriter, status int, value any) {
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(status)
	json.NewEncoder(writer).Encode(value) // a client that is gone is no failure of the server
}

func fail(writer http.ResponseWriter, err error) {
	log.Print(err)
	answer(writer, http.StatusInternalServerError, problem{"the database failed"})
}

func (all *users) get(writer http.ResponseWriter, request *http.Request) {
	id, err := strconv.ParseInt(request.PathValue("id"), 10, 64)
	if err != nil {
		answer(writer, http.StatusBadRequest, problem{"id is a number"})
		return
	}
	var found user
	err = all.find.QueryRow(id).Scan(&found.ID, &found.Name, &found.Email)
	if errors.Is(err, sql.ErrNoRows) {
		answer(writer, http.StatusNotFound, problem{"There is no such user."})
	} else if err != nil {
		fail(writer, err)
	} else {
		answer(writer, http.StatusOK, found)
	}
}

// number is a parameter of the query, or its default.
func number(request *http.Request, name string, usual, least, most int64) (int64, bool) {
	text := request.URL.Query().Get(name)
	if text == "" {
		return usual, true
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil && value >= least && value <= most
}

func (all *users) page(writer http.ResponseWriter, request *http.Request) {
	after, isAfter := number(request, "after", 0, 0, 1<<62)
	limit, isLimit := number(request, "limit", 20, 1, 100)
	if !isAfter || !isLimit {
		answer(writer, http.StatusBadRequest, problem{"after is at least 0, limit 1 to 100"})
		return
	}
	// One more than was asked for says whether there is another page.
	rows, err := all.list.Query(after, limit+1)
	if err != nil {
		fail(writer, err)
		return
	}
	defer rows.Close()
	found := page{Users: make([]user, 0, limit+1)}
	for rows.Next() {
		var each user
		if err := rows.Scan(&each.ID, &each.Name, &each.Email); err != nil {
			fail(writer, err)
			return
		}
		found.Users = append(found.Users, each)
	}
	if err := rows.Err(); err != nil {
		fail(writer, err)
		return
	}
	if int64(len(found.Users)) > limit {
		found.Users = found.Users[:limit]
		found.Next = &found.Users[limit-1].ID
	}
	answer(writer, http.StatusOK, found)
}

func (all *users) post(writer http.ResponseWriter, request *http.Request) {
	var given newUser
	if err := json.NewDecoder(http.MaxBytesReader(writer, request.Body, bodyMax)).Decode(&given); err != nil {
		answer(writer, http.StatusBadRequest, problem{"the content is no JSON object of a name and an email"})
		return
	}
	length := utf8.RuneCountInString(given.Name)
	if length < 1 || length > 100 {
		answer(writer, http.StatusUnprocessableEntity, problem{"name has 1 to 100 characters"})
		return
	}
	if utf8.RuneCountInString(given.Email) > 200 || !strings.Contains(given.Email, "@") {
		answer(writer, http.StatusUnprocessableEntity, problem{"email has an @, and at most 200 characters"})
		return
	}
	done, err := all.add.Exec(given.Name, given.Email)
	var refused sqlite3.Error
	if errors.As(err, &refused) && refused.Code == sqlite3.ErrConstraint {
		answer(writer, http.StatusConflict, problem{"Another user has this e-mail address."})
		return
	}
	if err != nil {
		fail(writer, err)
		return
	}
	id, err := done.LastInsertId()
	if err != nil {
		fail(writer, err)
		return
	}
	writer.Header().Set("Location", fmt.Sprintf("/users/%d", id))
	answer(writer, http.StatusCreated, user{id, given.Name, given.Email})
}

func health(writer http.ResponseWriter, _ *http.Request) {
	answer(writer, http.StatusOK, map[string]string{"status": "pass"})
}

func main() {
	port := flag.Int("port", 0, "where to listen")
	file := flag.String("database", "", "SQLite's file")
	flag.Parse()
	all, err := open(*file)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /health", health)
	http.HandleFunc("GET /users/{id}", all.get)
	http.HandleFunc("GET /users", all.page)
	http.HandleFunc("POST /users", all.post)
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}

// SPDX-License-Identifier: Apache-2.0
