package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/database/dbtest"
	"retrysafe/internal/trace"
)

// evil is what a hostile server answers with as an id.
const evil = `'; drop table orders; -- \'; drop table orders; --`

// tableShop keeps its orders in a database. Whatever has a key is done once, unless twice is set.
type tableShop struct {
	t     *testing.T
	d     dbtest.Database
	twice bool
	// onPost is told of every order that is asked for; nil for none.
	onPost func(n int64)
	posts  atomic.Int64
	mu     sync.Mutex
	done   map[string]string
}

func newTableShop(t *testing.T, d dbtest.Database) *tableShop {
	d.Exec(t, "create table orders (cart varchar(200), reference varchar(200))")
	return &tableShop{t: t, d: d, done: map[string]string{}}
}

func (s *tableShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.posts.Add(1)
	if r.URL.Path == "/carts" {
		id, _ := json.Marshal(fmt.Sprint(evil, n))
		created(w, fmt.Sprintf(`{"id": %s}`, id))
		return
	}
	if s.onPost != nil {
		s.onPost(n)
	}
	var o struct{ Cart, Reference string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &o)
	key := r.URL.Path + strings.Join(r.Header.Values("Idempotency-Key"), ",")
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, known := s.done[key]
	if !known || s.twice {
		e := s.d.Engine
		s.d.Exec(s.t, "insert into orders values ("+e.Parameter(1)+", "+e.Parameter(2)+")", o.Cart, o.Reference)
	}
	if !known {
		answer = fmt.Sprintf(`{"id": "order-%d"}`, n)
		s.done[key] = answer
	}
	created(w, answer)
}

// TestSQLOverEveryDatabase: an honest service passes and a fault is caught, with values of the server in the query that
// would drop the table if they were ever text.
func TestSQLOverEveryDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		text := fmt.Sprintf(`version: 1
target: ${TARGET}
limits: {request: 20s, count: 20s}
counters:
  ofCart: {sql: {dsn: %[1]q, query: "select count(*) from orders where cart = {{cart}}"}}
  ofReference: {sql: {dsn: %[1]q, query: "select count(*) from orders where reference = {{marker}}"}}
states:
  all: {sql: {dsn: %[1]q, query: "select cart, count(*) as n from orders where cart = {{cart}} group by cart union all select 'none', 0 where not exists (select 1 from orders where cart = {{cart}})"}}
endpoints:
  - name: create order
    setup: [{request: POST /carts, capture: {cart: $.id}}]
    request: POST /orders
    key: {header: Idempotency-Key}
    body: {cart: "{{cart}}", reference: "{{marker}}"}
    counters: [ofCart, ofReference]
    states: [all]
`, d.DSN)
		shop := newTableShop(t, d)
		ids := []string{"same-key-again", "same-key-concurrent", "fresh-key-per-retry"}
		r := judged(t, shop, text, runOptions{scenarios: ids})
		if r.Summary.Cases.Pass != len(ids) {
			t.Errorf("an honest service: %+v\n%s", r.Summary.Cases, reasons(r))
		}
		shop.twice = true
		r = judged(t, shop, text, runOptions{scenarios: ids})
		if r.Summary.ExitCode != ExitViolations || !hasRule(r, "silent-duplicate") {
			t.Errorf("a service that does everything again: %+v\n%s", r.Summary.Cases, reasons(r))
		}
		if n, ok := d.Value(t, "select count(*) from orders").(int64); !ok || n < 10 {
			t.Errorf("%d orders are left", n)
		}
	})
}

// TestEndpointsThatShareACount: two endpoints that are under way at once, and a counter that sees the effects of both.
func TestEndpointsThatShareACount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		text := fmt.Sprintf(`version: 1
target: ${TARGET}
limits: {request: 20s, count: 20s}
counters: {all: {sql: {dsn: %q, query: select count(*) from orders}}}
defaults: {key: {header: Idempotency-Key}}
endpoints:
  - {name: create order, request: POST /orders, body: {reference: "{{marker}}"}, counters: [all]}
  - {name: create refund, request: POST /refunds, body: {reference: "{{marker}}"}, counters: [all]}
`, d.DSN)
		ids := []string{"first-request", "same-key-again", "same-key-concurrent"}
		r := judged(t, newTableShop(t, d), text, runOptions{scenarios: ids, parallel: 4})
		if r.Summary.Cases.Pass != 2*len(ids) {
			t.Errorf("%+v\n%s", r.Summary.Cases, reasons(r))
		}
	})
}

// TestDatabaseGoesAway: a database that stops to answer in the middle of a run makes cases inconclusive and soon ends
// what is left; it is never the service's fault.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	const enough = 8 // requests: the control is done
	for _, how := range []string{"refuses", "hangs"} {
		t.Run("PostgreSQL "+how, func(t *testing.T) {
			d := dbtest.Postgres(t)
			p := newProxy(t, d.Hosts[0].Name+":"+d.Hosts[0].Port)
			shop := newTableShop(t, d)
			shop.onPost = func(n int64) {
				if n == enough {
					p.stop(how == "hangs")
				}
			}
			goneAway(t, shop, strings.Replace(d.DSN, d.Hosts[0].Name+":"+d.Hosts[0].Port, p.address, 1))
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		d, file := dbtest.SQLite(t)
		seen := file + ".seen" // the service goes on
		if err := os.Symlink(file, seen); err != nil {
			t.Skipf("this system makes no symbolic links, and the test takes the file away by one: %v", err)
		}
		shop := newTableShop(t, d)
		shop.onPost = func(n int64) {
			if n == enough {
				if err := os.Remove(seen); err != nil {
					t.Error(err)
				}
			}
		}
		goneAway(t, shop, "sqlite:"+seen)
	})
}

func goneAway(t *testing.T, shop http.Handler, dsn string) {
	t.Helper()
	text := fmt.Sprintf(`version: 1
target: ${TARGET}
limits: {request: 5s, count: 1s}
counters: {orders: {sql: {dsn: %q, query: "select count(*) from orders where reference = {{marker}}"}}}
endpoints:
  - {name: create order, request: POST /orders, key: {header: Idempotency-Key}, body: {reference: "{{marker}}"}, counters: [orders]}
`, dsn)
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r := judgedIn(ctx, t, shop, text, runOptions{})
	if r.Summary.Cases.Fail+r.Summary.Cases.Warn+r.Summary.Cases.Error > 0 || ctx.Err() != nil {
		t.Errorf("%+v after %s\n%s", r.Summary.Cases, time.Since(start), reasons(r))
	}
	if c := r.Endpoints[0].Control; c == nil || !c.Learned.Sound {
		t.Fatalf("it went away too early: %+v", c)
	}
	if !strings.Contains(reasons(r), string(trace.CounterUnreadable)) {
		t.Errorf("no case is %s:\n%s", trace.CounterUnreadable, reasons(r))
	}
	t.Logf("%+v in %s", r.Summary.Cases, time.Since(start))
}

// reasons are the cases that are no pass, one a line.
func reasons(r *trace.Run) string {
	var out strings.Builder
	for _, ep := range r.Endpoints {
		for _, c := range ep.Cases {
			if c.Reason != "" && c.Verdict != trace.Skip {
				fmt.Fprintf(&out, "%s, %s: %s %s: %s\n", ep.Name, c.Scenario, c.Verdict, c.Reason, c.Detail)
			}
			for _, f := range c.Findings {
				fmt.Fprintf(&out, "%s, %s: %s %s: %s\n", ep.Name, c.Scenario, c.Verdict, f.Rule, f.Message)
			}
		}
	}
	return out.String()
}

func hasRule(r *trace.Run, rule string) bool { return strings.Contains(reasons(r), " "+rule+": ") }

// proxy passes connections on until it is stopped.
type proxy struct {
	address  string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
	silent   bool
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), listener: l}
	go p.serve(to)
	t.Cleanup(func() { p.stop(false) })
	return p
}

func (p *proxy) serve(to string) {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.open = append(p.open, in)
		silent := p.silent
		p.mu.Unlock()
		if silent {
			continue
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			in.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, out)
		p.mu.Unlock()
		go p.pass(out, in)
		go p.pass(in, out)
	}
}

// pass copies until either end is closed; once the proxy is silent it takes what comes and sends nothing.
func (p *proxy) pass(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if err != nil {
			if !silent {
				to.Close()
			}
			return
		}
		if !silent {
			_, _ = to.Write(buf[:n])
		}
	}
}

// stop ends everything, or with silent keeps connections, and accepts more, but says nothing on them.
func (p *proxy) stop(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
	if silent {
		return
	}
	p.listener.Close()
	for _, c := range p.open {
		c.Close()
	}
}
