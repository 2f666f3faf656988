// Point reads with pgx: CALLERS goroutines over a pool of CONNECTIONS, one reader of results each.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type ids struct{ state, rows uint32 }

func (i *ids) next() int64 {
	i.state = i.state*1664525 + 1013904223
	return 1 + int64(uint64(i.state)*uint64(i.rows)>>32)
}

func cpu() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_pgx:", err)
		os.Exit(1)
	}
}

func main() {
	// FOLDER PORT CALLERS CONNECTIONS SECONDS ROWS
	number := func(at int) int {
		value, err := strconv.Atoi(os.Args[at])
		must(err)
		return value
	}
	callers, connections, rows := number(3), number(4), number(6)
	seconds, err := strconv.ParseFloat(os.Args[5], 64)
	must(err)
	config, err := pgxpool.ParseConfig(fmt.Sprintf("host=%s port=%d dbname=bench user=katana pool_max_conns=%d",
		os.Args[1], number(2), connections))
	must(err)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	must(err)
	var done atomic.Uint64
	var stop atomic.Bool
	var all sync.WaitGroup
	for caller := 0; caller < callers; caller++ {
		all.Add(1)
		go func() {
			defer all.Done()
			ids := ids{uint32(caller) * 2654435761, uint32(rows)}
			for !stop.Load() {
				asked := ids.next()
				var id int64
				var name, email string
				var age *int32
				must(pool.QueryRow(context.Background(), "SELECT id, name, email, age FROM users WHERE id = $1", asked).
					Scan(&id, &name, &email, &age))
				if id != asked {
					must(fmt.Errorf("a row is not the one that was asked for"))
				}
				done.Add(1)
			}
		}()
	}
	time.Sleep(500 * time.Millisecond)
	before, beforeCPU, begin := done.Load(), cpu(), time.Now()
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	fmt.Printf("{\"queries\":%d,\"elapsed_s\":%.6f,\"cpu_s\":%.6f}\n", done.Load()-before, time.Since(begin).Seconds(), cpu()-beforeCPU)
	stop.Store(true)
	all.Wait()
}
