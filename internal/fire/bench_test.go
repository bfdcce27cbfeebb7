package fire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// arrivals notes when the bodies of requests were complete at the server.
type arrivals struct {
	mu sync.Mutex
	at []time.Time
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	now := time.Now()
	a.mu.Lock()
	a.at = append(a.at, now)
	a.mu.Unlock()
	io.WriteString(w, `{"id":1}`)
}

// take gives the first gap and the spread of the last volley in microseconds.
func (a *arrivals) take() (gap, spread float64) {
	slices.SortFunc(a.at, time.Time.Compare)
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	gap, spread = us(a.at[1].Sub(a.at[0])), us(a.at[len(a.at)-1].Sub(a.at[0]))
	a.at = a.at[:0]
	return gap, spread
}

func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

// BenchmarkVolley reports, in microseconds, the first gap and the spread of the release at the client, and of the ends
// of the bodies at a server in the same process.
func BenchmarkVolley(b *testing.B) {
	for _, secure := range []bool{false, true} {
		for _, n := range []int{5, 20} {
			name := "http"
			if secure {
				name = "https"
			}
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) { benchmarkVolley(b, n, secure) })
		}
	}
}

func benchmarkVolley(b *testing.B, n int, secure bool) {
	seen := &arrivals{}
	server := httptest.NewUnstartedServer(seen)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	defer server.Close()
	client := New(Options{TLS: insecure()})
	shots := slices.Repeat([]Shot{order(server.URL)}, n)
	var gaps, atServer, spreads []float64
	for b.Loop() {
		_, burst := client.Volley(b.Context(), shots)
		if burst.Copies != n {
			b.Fatalf("released %d of %d", burst.Copies, n)
		}
		gap, spread := seen.take()
		gaps = append(gaps, burst.FirstGap.Micros())
		atServer, spreads = append(atServer, gap), append(spreads, spread)
	}
	b.ReportMetric(quantile(gaps, .5), "release-gap-p50-us")
	b.ReportMetric(quantile(atServer, .5), "gap-p50-us")
	b.ReportMetric(quantile(atServer, .95), "gap-p95-us")
	b.ReportMetric(quantile(spreads, .5), "spread-p50-us")
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
