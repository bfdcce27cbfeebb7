package fire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// benchEnv is set in the environment of the process that serves the benchmarks.
const benchEnv = "FIRE_BENCH_SERVER"

// benchURLs are what that process serves: the same handler in three ways, and the way there through proxies that delay
// every segment of a connection by 0 to 5 ms.
type benchURLs struct{ Plain, Secure, SlowPlain, SlowSecure string }

// serveBench serves until its standard input ends. It says where in one line of JSON.
func serveBench() {
	seen := &arrivals{}
	plain := httptest.NewUnstartedServer(seen)
	plain.Config.Protocols = new(http.Protocols)
	plain.Config.Protocols.SetHTTP1(true)
	plain.Config.Protocols.SetUnencryptedHTTP2(true)
	plain.Start()
	secure := httptest.NewUnstartedServer(seen)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	json.NewEncoder(os.Stdout).Encode(benchURLs{plain.URL, secure.URL,
		"http://" + slowly(plain.Listener.Addr().String()), "https://" + slowly(secure.Listener.Addr().String())})
	io.Copy(io.Discard, os.Stdin)
}

// startBench starts that process for as long as the benchmark runs.
func startBench(b *testing.B) (urls benchURLs) {
	b.Helper()
	server := exec.Command(os.Args[0], "-test.run=^$")
	server.Env = append(os.Environ(), benchEnv+"=1")
	server.Stderr = io.Discard
	in, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		server.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &urls)
	}
	if err != nil {
		b.Fatal(err)
	}
	return urls
}

// arrivals notes when requests reach their handler, and when their bodies are complete.
type arrivals struct {
	mu          sync.Mutex
	entry, ends []int64 // nanoseconds
}

// gaps are the first gap and the spread, in microseconds.
type gaps struct{ EntryGap, EndGap, EndSpread float64 }

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entry := time.Now().UnixNano()
	if r.URL.Path == "/take" {
		json.NewEncoder(w).Encode(a.take())
		return
	}
	io.Copy(io.Discard, r.Body)
	end := time.Now().UnixNano()
	a.mu.Lock()
	a.entry, a.ends = append(a.entry, entry), append(a.ends, end)
	a.mu.Unlock()
	io.WriteString(w, `{"id":1}`)
}

// take gives the figures of the last volley.
func (a *arrivals) take() (g gaps) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.entry)
	slices.Sort(a.ends)
	if n := len(a.ends); n > 1 {
		g = gaps{us(a.entry[1] - a.entry[0]), us(a.ends[1] - a.ends[0]), us(a.ends[n-1] - a.ends[0])}
	}
	a.entry, a.ends = a.entry[:0], a.ends[:0]
	return g
}

func us(ns int64) float64 { return float64(ns) / 1e3 }

// slowly listens for connections to a server and delays every segment, in both directions, in order.
func slowly(to string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ""
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				conn.Close()
				continue
			}
			go dawdle(server, conn)
			go dawdle(conn, server)
		}
	}()
	return l.Addr().String()
}

func dawdle(to, from net.Conn) {
	defer to.Close()
	p := make([]byte, 64<<10)
	for {
		n, err := from.Read(p)
		if err != nil {
			return
		}
		time.Sleep(rand.N(5 * time.Millisecond))
		to.Write(p[:n])
	}
}
