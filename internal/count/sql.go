package count

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"retrysafe/internal/database"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// Statement sends the statement of a hook, which has timeout. One with placeholders is about a key: when it finds no row,
// it has changed nothing, and that is an error.
func Statement(ctx context.Context, pool *database.Pool, timeout time.Duration, s *plan.SQL, v plan.Values) error {
	query, args := s.Statement(v)
	n, err := pool.Exec(ctx, s.Database, timeout, query, args)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", s.Database.Name, err)
	case n == 0 && len(args) > 0 && changesRows(query):
		return fmt.Errorf("expected a row to change, found none: is the key in that table and column? (sent: %s)", shorten(s.Show(v)))
	}
	return nil
}

// changesRows reports whether a statement says how many rows it changed.
func changesRows(query string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToLower(word) {
	case "update", "delete", "insert", "replace", "merge":
		return true
	}
	return false
}

// query asks for a row: the one that there must be.
func (r *Reader) query(ctx context.Context, s *plan.SQL, v plan.Values, what, instead string) (database.Table, error) {
	query, args := s.Statement(v)
	t, err := r.Databases.Query(ctx, s.Database, r.Timeout, 1, query, args)
	switch {
	case err != nil:
		return t, err
	case len(t.Columns) == 0:
		return t, fmt.Errorf("expected one row with %s, found a statement that gives no rows: write a query such as select count(*)", what)
	case len(t.Rows) == 0:
		return t, fmt.Errorf("expected one row with %s, found no row: %s", what, instead)
	case t.More:
		return t, fmt.Errorf("expected one row with %s, found more than one: aggregate them, as in select count(*), or narrow the where", what)
	}
	return t, nil
}

// sql reads a counter: one row of one column, a whole number.
func (r *Reader) sql(ctx context.Context, s *plan.SQL, v plan.Values, out *trace.Value) (int64, error) {
	out.Source = s.Show(v)
	t, err := r.query(ctx, s, v, "one number", "select count(*) gives 0 where there is nothing")
	if err != nil {
		return 0, err
	}
	if len(t.Columns) > 1 {
		return 0, fmt.Errorf("expected one column with a number, found %d (%s): select the one that counts", len(t.Columns),
			shorten(strings.Join(t.Columns, ", ")))
	}
	found := t.Rows[0][0]
	out.Raw = shorten(cellText(found))
	return cellNumber(found)
}

func cellNumber(found any) (int64, error) {
	switch n := found.(type) {
	case int64:
		return n, nil
	case uint64:
		if n <= math.MaxInt64 {
			return int64(n), nil
		}
	case string, []byte, float64:
		return wholeNumber(cellText(n))
	case nil:
		return 0, errors.New("expected a whole number, found NULL: a sum of no rows is NULL, write coalesce(sum(...), 0)")
	}
	return 0, fmt.Errorf("expected a whole number, found %s: write select count(*), or cast it", shorten(cellText(found)))
}

// cellText is a value as text, as a database's own client would print it.
func cellText(found any) string {
	switch v := found.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(found)
}

// sqlState is the one value of a row as JSON, or all of its values under the names of their columns.
func (r *Reader) sqlState(ctx context.Context, s *plan.SQL, v plan.Values) (string, error) {
	t, err := r.query(ctx, s, v, "the state", "where that is a state too, write a query that gives a row all the same, such as select count(*), max(status) from ...")
	if err != nil {
		return "", err
	}
	if len(t.Columns) == 1 {
		return jsonCell(t.Rows[0][0])
	}
	row := map[string]json.RawMessage{}
	for i, name := range t.Columns {
		if _, twice := row[name]; twice {
			return "", fmt.Errorf("expected columns of different names, found %q twice: name one with `as`", name)
		}
		cell, err := jsonCell(t.Rows[0][i])
		if err != nil {
			return "", err
		}
		row[name] = json.RawMessage(cell)
	}
	text, err := compact(row)
	return bounded(text), err
}

// jsonCell is a value as JSON: numbers and truth values as they are, the rest as text. What is long or no text is replaced
// by its size and hash, so that one such column does not hide the others.
func jsonCell(found any) (string, error) {
	switch v := found.(type) {
	case nil, bool, int64, uint64:
		return compact(v)
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return cellText(v), nil
		}
	}
	text := cellText(found)
	if !utf8.ValidString(text) || len(text) > stateLimit {
		text = bounded(text)
	}
	return compact(text)
}
