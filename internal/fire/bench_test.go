package fire

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
)

func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

// share is the share of values that are at most limit.
func share(values []float64, limit float64) float64 {
	n := 0
	for _, v := range values {
		if v <= limit {
			n++
		}
	}
	return float64(n) / float64(len(values))
}

// ways are the techniques, each against the server that it is for.
func ways(plain, secure string) []struct{ name, firing, url string } {
	return []struct{ name, firing, url string }{
		{"barrier", FiringBarrier, plain},
		{"h1", FiringH1, plain},
		{"h1-tls", FiringH1, secure},
		{"h2c", FiringH2, plain},
		{"h2-tls", FiringH2, secure},
	}
}

// BenchmarkVolley reports, in microseconds, the first gap at the entry of the handlers and at the ends of the bodies
// at a server in a process of its own, and the spread of the latter. The barrier is the reference for plain goroutines.
func BenchmarkVolley(b *testing.B) {
	urls := startBench(b)
	for _, way := range ways(urls.Plain, urls.Secure) {
		for _, n := range []int{5, 20, 50, 200} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) { benchmarkVolley(b, way.firing, way.url, n) })
		}
	}
}

// BenchmarkVolleyFar does the same through proxies that delay every segment by 0 to 5 ms: the share of volleys with a
// first gap of at most 0.1 and 1 ms is what a server with such a window would show at least.
func BenchmarkVolleyFar(b *testing.B) {
	urls := startBench(b)
	for _, way := range ways(urls.SlowPlain, urls.SlowSecure) {
		for _, n := range []int{5, 20} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) { benchmarkVolley(b, way.firing, way.url, n) })
		}
	}
}

func benchmarkVolley(b *testing.B, firing, url string, n int) {
	client := New(Options{TLS: insecure(), Firing: firing})
	shots := slices.Repeat([]Shot{order(url)}, n)
	var entry, ends, spreads, rtt, jitter []float64
	for b.Loop() {
		_, burst := client.Volley(b.Context(), shots)
		if burst.Copies != n {
			b.Fatalf("released %d of %d", burst.Copies, n)
		}
		x := client.Send(b.Context(), Shot{Method: "GET", URL: url + "/take"})
		var g gaps
		if !x.Complete() || json.Unmarshal(x.Response.Body.Bytes(), &g) != nil {
			b.Fatal(x.Broke, x.Error)
		}
		entry, ends, spreads = append(entry, g.EntryGap), append(ends, g.EndGap), append(spreads, g.EndSpread)
		rtt, jitter = append(rtt, burst.RTT.Micros()), append(jitter, burst.Jitter.Micros())
	}
	b.ReportMetric(quantile(entry, .5), "entry-p50-us")
	b.ReportMetric(quantile(ends, .5), "end-p50-us")
	b.ReportMetric(quantile(ends, .95), "end-p95-us")
	b.ReportMetric(quantile(spreads, .5), "spread-p50-us")
	b.ReportMetric(share(ends, 20), "in-20us")
	b.ReportMetric(share(ends, 100), "in-100us")
	b.ReportMetric(share(ends, 1000), "in-1ms")
	b.ReportMetric(quantile(rtt, .5), "rtt-us")
	b.ReportMetric(quantile(jitter, .5), "jitter-us")
}

// BenchmarkConnections holds 1,000 requests back and reports what each costs in memory at this end.
func BenchmarkConnections(b *testing.B) {
	urls := startBench(b)
	const n = 1000
	for _, way := range ways(urls.Plain, urls.Secure) {
		b.Run(way.name, func(b *testing.B) {
			client := New(Options{TLS: insecure(), Firing: way.firing})
			var perCopy []float64
			for b.Loop() {
				v := &volley{c: client}
				before := memory()
				for range n {
					v.flights = append(v.flights, client.prepare(order(way.url), false))
				}
				v.board(b.Context())
				v.prepare(b.Context())
				perCopy = append(perCopy, float64(memory()-before)/n)
				burst := v.release(b.Context())
				v.finish(b.Context())
				if burst.Copies != n {
					b.Fatalf("released %d of %d: %s", burst.Copies, n, v.flights[n-1].x.Error)
				}
			}
			b.ReportMetric(quantile(perCopy, .5), "B/copy")
		})
	}
}

// memory is what is in use, stacks of goroutines included.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"id":1}`)
	}))
	defer server.Close()
	client := New(Options{})
	shot := order(server.URL)
	b.ReportAllocs()
	for b.Loop() {
		if x := client.Send(b.Context(), shot); !x.Complete() {
			b.Fatal(x.Broke, x.Error)
		}
	}
}
