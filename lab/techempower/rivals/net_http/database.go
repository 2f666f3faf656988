package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	rows         = 10000
	selectUser   = "SELECT id, name, email, age FROM users WHERE id = $1"
	selectWorld  = "SELECT id, randomnumber FROM world WHERE id = $1"
	selectPage   = "SELECT id, message FROM fortune"
	updateWorlds = "UPDATE world SET randomnumber = given.number " +
		"FROM (SELECT id, max(number) AS number FROM unnest($1::int[], $2::int[]) " +
		"AS pairs(id, number) GROUP BY id ORDER BY id) AS given WHERE world.id = given.id"
)

type user struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Age   *int32 `json:"age"`
}

type world struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

type fortune struct {
	ID      int32
	Message string
}

func random() int32 {
	return 1 + rand.Int32N(rows)
}

// A database is a pool of connections, and the cache of the worlds.
type database struct {
	pool  *pgxpool.Pool
	mutex sync.RWMutex
	cache map[int32]int32
}

func connect(ctx context.Context, url string, connections int) (*database, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	config.AfterConnect = func(ctx context.Context, connection *pgx.Conn) error {
		_, err := connection.Prepare(ctx, "world", selectWorld) // the pipeline's; pgx prepares the others itself
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &database{pool: pool, cache: make(map[int32]int32, rows)}, pool.Ping(ctx)
}

func (database *database) user(ctx context.Context, id int64) (found user, err error) {
	err = database.pool.QueryRow(ctx, selectUser, id).Scan(&found.ID, &found.Name, &found.Email, &found.Age)
	return found, err
}

func (database *database) find(ctx context.Context, id int32) (found world, err error) {
	err = database.pool.QueryRow(ctx, "world", id).Scan(&found.ID, &found.RandomNumber)
	return found, err
}

// readWorld reads one row of a pipeline, and the sync behind it.
func readWorld(pipeline *pgconn.Pipeline) (found world, err error) {
	results, err := pipeline.GetResults()
	if err != nil {
		return found, err
	}
	reader, isReader := results.(*pgconn.ResultReader)
	if !isReader || !reader.NextRow() {
		return found, fmt.Errorf("the table has a hole: %T", results)
	}
	values := reader.Values()
	found.ID = int32(binary.BigEndian.Uint32(values[0]))
	found.RandomNumber = int32(binary.BigEndian.Uint32(values[1]))
	if _, err = reader.Close(); err == nil {
		_, err = pipeline.GetResults()
	}
	return found, err
}

// worlds are queries of their own, each with its sync, in one pipeline: a Batch would be one transaction.
func (database *database) worlds(ctx context.Context, count int) ([]world, error) {
	connection, err := database.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	pipeline := connection.Conn().PgConn().StartPipeline(ctx)
	binaryFormat := []int16{pgx.BinaryFormatCode}
	ids := make([]byte, 0, 4*count)
	for range count {
		ids = binary.BigEndian.AppendUint32(ids, uint32(random()))
		pipeline.SendQueryPrepared("world", [][]byte{ids[len(ids)-4:]}, binaryFormat, binaryFormat)
		pipeline.SendPipelineSync()
	}
	if err := pipeline.Flush(); err != nil {
		return nil, err
	}
	found := make([]world, count)
	for at := range found {
		if found[at], err = readWorld(pipeline); err != nil {
			pipeline.Close()
			return nil, err
		}
	}
	return found, pipeline.Close()
}

func (database *database) update(ctx context.Context, count int) ([]world, error) {
	found, err := database.worlds(ctx, count)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(left, right world) int { return int(left.ID - right.ID) })
	ids, numbers := make([]int32, count), make([]int32, count)
	for at := range found {
		found[at].RandomNumber = random()
		ids[at], numbers[at] = found[at].ID, found[at].RandomNumber
	}
	_, err = database.pool.Exec(ctx, updateWorlds, ids, numbers)
	return found, err
}

func (database *database) cached(ctx context.Context, count int) ([]world, error) {
	found := make([]world, count)
	for at := range found {
		id := random()
		database.mutex.RLock()
		number, isThere := database.cache[id]
		database.mutex.RUnlock()
		if !isThere {
			loaded, err := database.find(ctx, id)
			if err != nil {
				return nil, err
			}
			number = loaded.RandomNumber
			database.mutex.Lock()
			database.cache[id] = number
			database.mutex.Unlock()
		}
		found[at] = world{id, number}
	}
	return found, nil
}

func (database *database) fortunes(ctx context.Context) ([]fortune, error) {
	rows, err := database.pool.Query(ctx, selectPage)
	if err != nil {
		return nil, err
	}
	found := make([]fortune, 0, 16)
	var next fortune
	_, err = pgx.ForEachRow(rows, []any{&next.ID, &next.Message}, func() error {
		found = append(found, next)
		return nil
	})
	return found, err
}

// SPDX-License-Identifier: Apache-2.0
