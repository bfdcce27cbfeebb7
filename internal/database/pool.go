package database

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// connections are the most to one database. What a run counts at a time is a few markers, and the service under test
	// needs its own.
	connections = 4
	// idleFor is how long an unused one is kept.
	idleFor = time.Minute
	// patience is how many statements in a row may wait for the whole time before those after them wait for a tenth of it,
	// until one is answered: a database that hangs must not hold up every count of a run.
	patience = 3
)

// Pool holds the databases of a run open. The zero value is ready, for several goroutines at once; Close ends it.
type Pool struct {
	mu   sync.Mutex
	open map[opening]*opened
}

// opening tells connections that only read from those that write.
type opening struct {
	engine Engine
	dsn    string // with the folder, for a file
	write  bool
}

type opened struct {
	*sql.DB
	// late is how many statements in a row had no answer in time.
	late atomic.Int64
}

// Table is the answer to a query: its columns, and the first rows. Values are nil, int64, uint64, float64, bool, string,
// []byte or time.Time.
type Table struct {
	Columns []string
	Rows    [][]any
	// More is true when there are more rows than were asked for.
	More bool
}

// Query sends a statement that reads, and gives at most so many rows. It has no answer after the timeout, connecting
// included. The database refuses to change anything meanwhile.
func (p *Pool) Query(ctx context.Context, d *Database, timeout time.Duration, rows int, query string, args []any) (Table, error) {
	var t Table
	err := p.with(ctx, d, timeout, false, func(ctx context.Context, db *sql.DB) error {
		q, end, err := reader(ctx, d, db)
		if err != nil {
			return err
		}
		defer end()
		t, err = read(ctx, q, rows, query, args)
		return err
	})
	return t, err
}

// Exec sends a statement that may change something, and gives how many rows it found to change; 0 where the database does
// not say.
func (p *Pool) Exec(ctx context.Context, d *Database, timeout time.Duration, query string, args []any) (int64, error) {
	var n int64
	err := p.with(ctx, d, timeout, true, func(ctx context.Context, db *sql.DB) error {
		done, err := db.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// Close ends all connections.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, o := range p.open {
		errs = append(errs, o.Close())
	}
	p.open = nil
	return errors.Join(errs...)
}

// with does something with a database within a time, and explains what goes wrong.
func (p *Pool) with(ctx context.Context, d *Database, timeout time.Duration, write bool, do func(context.Context, *sql.DB) error) error {
	if d.Engine == SQLite {
		if info, err := os.Stat(d.file); err != nil || info.IsDir() {
			return noFile(d)
		}
	}
	o, err := p.get(d, write, timeout)
	if err != nil {
		return err
	}
	wait := timeout
	if o.late.Load() >= patience {
		wait = timeout / 10
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err = do(limited, o.DB)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && (limited.Err() != nil || isTimeout(err)):
		o.late.Add(1)
		return tooLate(d, timeout, wait)
	}
	o.late.Store(0)
	if err != nil {
		return d.explain(err)
	}
	return nil
}

func (p *Pool) get(d *Database, write bool, timeout time.Duration) (*opened, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := opening{d.Engine, d.dsn + "\x00" + d.file, write}
	if o, ok := p.open[key]; ok {
		return o, nil
	}
	var db *sql.DB
	var err error
	switch d.Engine {
	case PostgreSQL:
		db = d.openPostgres(timeout)
	case MySQL:
		db, err = d.openMySQL(write, timeout)
	default:
		db, err = d.openSQLite(write, timeout)
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleFor)
	if p.open == nil {
		p.open = map[opening]*opened{}
	}
	o := &opened{DB: db}
	p.open[key] = o
	return o, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// reader is what a query goes through so that it can only read: a transaction that says so, or SQLite's file as it was
// opened. end gives it back.
func reader(ctx context.Context, d *Database, db *sql.DB) (q querier, end func(), err error) {
	if d.Engine == SQLite {
		return db, func() {}, nil
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	return tx, func() { _ = tx.Rollback() }, nil // nothing was changed that could be lost
}

func read(ctx context.Context, q querier, most int, query string, args []any) (Table, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	var t Table
	if t.Columns, err = rows.Columns(); err != nil {
		return Table{}, err
	}
	for rows.Next() {
		if len(t.Rows) == most {
			t.More = true
			return t, nil
		}
		row, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return Table{}, err
		}
		t.Rows = append(t.Rows, row)
	}
	return t, rows.Err()
}
