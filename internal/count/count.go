// Package count reads count-check hooks: an HTTP GET whose answer holds a number, a command that prints one, or a query
// that gives one; and states, which are compared as text. It reads once; when and how often to read is the engine's
// business. It also runs the commands and statements of hooks.
package count

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"retrysafe/internal/database"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// rawLimit is how much of an unexpected answer is kept to be shown: a few lines of a terminal.
const rawLimit = 300

// Get sends the GET of an HTTP counter for a caller and gives the exchange. A state is asked for in the same way: what
// to send are Request, Headers and Caller alone.
type Get func(ctx context.Context, c *plan.HTTPCounter, v plan.Values) trace.Exchange

// Reader reads counters and states.
type Reader struct {
	// Get is used for HTTP counters and states.
	Get Get
	// Dir is the folder in which commands of counters that stand in no file run; empty means the current one. The others run in the
	// folder of their file.
	Dir string
	// Databases are used for queries.
	Databases *database.Pool
	// Timeout bounds a command or query; it must be above zero.
	Timeout time.Duration
}

// Read asks the counter c once, with v for its placeholders. What goes wrong is in the Error of the
// value; the Scopes are the caller's to fill in.
func (r *Reader) Read(ctx context.Context, c plan.Counter, v plan.Values) trace.Value {
	out := trace.Value{Counter: c.Name}
	var n int64
	var err error
	switch {
	case c.HTTP != nil:
		n, err = r.http(ctx, c.HTTP, v, &out)
	case c.SQL != nil:
		n, err = r.sql(ctx, c.SQL, v, &out)
	default:
		n, err = r.exec(ctx, c, v, &out)
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.N = n
	return out
}

func (r *Reader) http(ctx context.Context, c *plan.HTTPCounter, v plan.Values, out *trace.Value) (int64, error) {
	x := r.Get(ctx, c, v)
	out.Source = "GET " + x.Request.URL
	if !x.Complete() {
		return 0, fmt.Errorf("no answer: %s", x.Error)
	}
	out.Raw = rawAnswer(x.Response)
	if x.Response.Status/100 != 2 {
		return 0, fmt.Errorf("expected a 2xx answer, found status %d", x.Response.Status)
	}
	if c.Header != "" {
		return headerNumber(x.Response.Headers, c.Header)
	}
	if err := whole(x.Response.Body); err != nil {
		return 0, err
	}
	return jsonNumber(x.Response.Body.Bytes(), c)
}

// whole notes a body that was not kept whole.
func whole(b trace.Body) error {
	if b.Truncated {
		return fmt.Errorf("the answer is larger than limits.body (%d bytes kept of %d)", len(b.Bytes()), b.Size)
	}
	return nil
}

func rawAnswer(a *trace.Response) string {
	return fmt.Sprintf("%d %s", a.Status, shorten(string(a.Body.Bytes())))
}

func headerNumber(hs []trace.Header, name string) (int64, error) {
	lines := headerLines(hs, name)
	if len(lines) == 0 {
		return 0, noHeader(name)
	}
	return wholeNumber(lines[0])
}

// headerLines are the values of a header, one for each line.
func headerLines(hs []trace.Header, name string) []string {
	var lines []string
	for _, h := range hs {
		if strings.EqualFold(h.Name, name) {
			lines = append(lines, strings.TrimSpace(h.Value))
		}
	}
	return lines
}

func noHeader(name string) error { return fmt.Errorf("the answer has no header %s", name) }

func jsonNumber(body []byte, c *plan.HTTPCounter) (int64, error) {
	query := c.Value + c.Length // exactly one of them is set
	found, err := selectOne(body, query)
	if err != nil {
		return 0, err
	}
	if c.Length != "" {
		list, ok := found.([]any)
		if !ok {
			return 0, fmt.Errorf("expected a list at %s, found %s", query, kindOf(found))
		}
		return int64(len(list)), nil
	}
	switch n := found.(type) {
	case json.Number:
		return wholeNumber(n.String())
	case string:
		return wholeNumber(n)
	}
	return 0, fmt.Errorf("expected a number at %s, found %s", query, kindOf(found))
}

// selectOne is the only place of a JSON text that a JSONPath matches. Several would come in no certain order.
func selectOne(body []byte, query string) (any, error) {
	doc, err := decode(body)
	if err != nil {
		return nil, fmt.Errorf("expected JSON: %w", err)
	}
	path, err := jsonpath.Parse(query)
	if err != nil {
		return nil, fmt.Errorf("JSONPath %s: %w", query, err)
	}
	found := path.Select(doc)
	if len(found) != 1 {
		return nil, fmt.Errorf("JSONPath %s matches %d places of the answer, expected one", query, len(found))
	}
	return found[0], nil
}

// decode reads a whole JSON text, numbers as they are written.
func decode(body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more behind the end of it")
	}
	return doc, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// wholeNumber reads 3, "3", 3.0 and 3e0 alike. A count with a fraction is an error.
func wholeNumber(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	if len(s) <= 32 { // a longer text is no count; and big.Rat would expand a huge exponent
		if f, err := strconv.ParseFloat(s, 64); err == nil && f > -1e15 && f < 1e15 {
			if r, ok := new(big.Rat).SetString(s); ok && r.IsInt() {
				return r.Num().Int64(), nil
			}
		}
	}
	return 0, fmt.Errorf("expected a whole number, found %q", shorten(s))
}

func (r *Reader) exec(ctx context.Context, c plan.Counter, v plan.Values, out *trace.Value) (int64, error) {
	argv := Render(c.Exec, v)
	out.Source = strings.Join(argv, " ")
	dir := r.Dir
	if c.Pos.File != "" {
		dir = filepath.Dir(c.Pos.File)
	}
	text, err := Command(ctx, dir, r.Timeout, argv)
	out.Raw = shorten(text)
	if err != nil {
		return 0, err
	}
	return wholeNumber(strings.TrimSpace(text))
}

// Render fills in the placeholders of a command. No shell ever sees the result.
func Render(args []plan.Template, v plan.Values) []string {
	argv := make([]string, len(args))
	for i, a := range args {
		argv[i] = a.Render(v)
	}
	return argv
}

// Command runs argv in dir for at most timeout and gives what it printed on standard output. The error
// of a command that failed holds the end of what it printed on standard error.
func Command(ctx context.Context, dir string, timeout time.Duration, argv []string) (string, error) {
	return CommandWith(ctx, dir, timeout, argv, nil)
}

// CommandWith is Command for one that reads text from its standard input. One that ends without reading all of it has not failed.
func CommandWith(ctx context.Context, dir string, timeout time.Duration, argv []string, text []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	if text != nil {
		cmd.Stdin = bytes.NewReader(text)
	}
	// Children that keep the pipe open must not hold up the run after the command itself has ended.
	cmd.WaitDelay = time.Second
	stdout, stderr := &capped{}, &capped{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return stdout.String(), fmt.Errorf("%s did not end within %s", argv[0], timeout)
	case stderr.Len() > 0:
		return stdout.String(), fmt.Errorf("%s: %w: %s", argv[0], err, shorten(strings.TrimSpace(stderr.String())))
	}
	return stdout.String(), fmt.Errorf("%s: %w", argv[0], err)
}

// capped is a buffer that drops what exceeds a size no count needs.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	const most = 64 << 10
	if room := most - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func shorten(s string) string {
	if len(s) <= rawLimit {
		return s
	}
	return strings.ToValidUTF8(s[:rawLimit], "") + "..."
}
