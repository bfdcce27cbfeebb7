package fire

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"retrysafe/internal/trace"
)

// TestMain is also the server of the benchmarks, in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(benchEnv) != "" {
		serveBench()
		return
	}
	goleak.VerifyTestMain(m)
}

func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

func config(roots *x509.CertPool) *tls.Config { return &tls.Config{RootCAs: roots} }

// discardLog keeps a server quiet about handshakes that are meant to fail.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// listen serves every connection with handle, in a goroutine each, and returns the base URL. The test waits for
// them at its end; a handler ends when the client is gone.
func listen(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// closedPort is the base URL of a port on which nobody listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return "http://" + l.Addr().String()
}

// readRequest reads one request with its body; ok is false when the connection ended before.
func readRequest(br *bufio.Reader) (r *http.Request, body string, ok bool) {
	r, err := http.ReadRequest(br)
	if err != nil {
		return nil, "", false
	}
	b, err := io.ReadAll(r.Body)
	return r, string(b), err == nil
}

// untilGone reads until the client is gone and gives the error that says how.
func untilGone(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	if err == nil {
		return io.EOF
	}
	return err
}

// order is a keyed POST.
func order(url string) Shot {
	return Shot{
		Method: "POST", URL: url + "/orders",
		Header: []trace.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Idempotency-Key", Value: "k-1"}},
		Body:   []byte(`{"item":"tea","quantity":2}`),
	}
}

// wantBroken checks an exchange that ended without an answer.
func wantBroken(t *testing.T, x trace.Exchange, phase trace.Phase, text string) {
	t.Helper()
	if x.Complete() {
		t.Fatalf("got answer %+v, want none", x.Response)
	}
	if x.Broke != phase || !strings.Contains(x.Error, text) {
		t.Errorf("broke in %q: %q, want %q with %q", x.Broke, x.Error, phase, text)
	}
	if x.Done == 0 {
		t.Error("Done is not set")
	}
}
