// Package go_common is what the rivals in Go share: their flags, and the data set as ARENA's profiles show it.
package go_common

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
)

// Flags are those that every server of the arena has; a port that is 0 is not listened on.
type Flags struct {
	H1, H1TLS, H2C, TLS        int
	Static, Dataset, Cert, Key string
}

// Fail ends the program with one line.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Read reads the command line; GOMAXPROCS becomes --threads.
func Read() Flags {
	var flags Flags
	flag.IntVar(&flags.H1, "h1", 0, "HTTP/1.1")
	flag.IntVar(&flags.H1TLS, "h1-tls", 0, "HTTP/1.1 over TLS")
	flag.IntVar(&flags.H2C, "h2c", 0, "HTTP/2 by prior knowledge")
	flag.IntVar(&flags.TLS, "tls", 0, "HTTP/2 over TLS")
	flag.StringVar(&flags.Static, "static", "", "folder of files")
	flag.StringVar(&flags.Dataset, "dataset", "", "file of the items")
	flag.StringVar(&flags.Cert, "cert", "", "certificate, PEM")
	flag.StringVar(&flags.Key, "key", "", "its key, PEM")
	threads := flag.Int("threads", 1, "GOMAXPROCS")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)
	return flags
}

// Rating of an item.
type Rating struct {
	Score int `json:"score"`
	Count int `json:"count"`
}

// Item of the data set.
type Item struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int      `json:"price"`
	Quantity int      `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   Rating   `json:"rating"`
}

// Priced is an item as it is answered.
type Priced struct {
	Item
	Total int `json:"total"`
}

// Answer of /json/{count}.
type Answer struct {
	Items []Priced `json:"items"`
	Count int      `json:"count"`
}

// Items reads the data set.
func (flags Flags) Items() []Item {
	text, err := os.ReadFile(flags.Dataset)
	if err != nil {
		Fail(err)
	}
	var items []Item
	if err := json.Unmarshal(text, &items); err != nil {
		Fail(fmt.Errorf("%s: %w", flags.Dataset, err))
	}
	return items
}

// Price is the answer of the first count items and a factor.
func Price(items []Item, count, m int) Answer {
	count = max(0, min(count, len(items)))
	priced := make([]Priced, count)
	for at := range priced {
		priced[at] = Priced{items[at], items[at].Price * items[at].Quantity * m}
	}
	return Answer{priced, count}
}

// SPDX-License-Identifier: Apache-2.0
