package fire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// certificateOf is a certificate of its own for a name.
func certificateOf(t *testing.T, name string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// whoServer demands a certificate that one of the callers owns and answers with its name and a number for each connection.
func whoServer(t *testing.T, h2 bool, max uint16, callers ...*tls.Certificate) *httptest.Server {
	t.Helper()
	pool := x509.NewCertPool()
	for _, c := range callers {
		leaf, err := x509.ParseCertificate(c.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		pool.AddCert(leaf)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %t", r.TLS.PeerCertificates[0].Subject.CommonName, r.TLS.DidResume)
	}))
	server.Config.ErrorLog = discardLog()
	server.EnableHTTP2 = h2
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: max}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// TestCertificates: every connection presents the certificate of its shot, whatever else shares the volley, the host and the
// lane, whatever was connected before, and whatever the client presents by itself.
func TestCertificates(t *testing.T) {
	alice, bob, carol := certificateOf(t, "alice"), certificateOf(t, "bob"), certificateOf(t, "carol")
	for _, max := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, h2 := range []bool{true, false} {
			server := whoServer(t, h2, max, alice, bob, carol)
			own := insecure()
			own.Certificates, own.ClientSessionCache = []tls.Certificate{*carol}, tls.NewLRUClientSessionCache(8)
			client := New(Options{TLS: own})
			var shots []Shot
			var want []string
			for _, who := range []*tls.Certificate{alice, bob, nil, bob, alice, bob} {
				shots = append(shots, order(server.URL))
				shots[len(shots)-1].Certificate = who
				want = append(want, map[*tls.Certificate]string{alice: "alice false", bob: "bob false", nil: "carol false"}[who])
			}
			for range 2 {
				exchanges, burst := client.Volley(t.Context(), shots)
				conns := map[int]string{}
				for i, x := range exchanges {
					if !x.Complete() || x.Response.Body.Text != want[i] {
						t.Fatalf("shot %d: %+v, broke in %q: %s; want %s", i, x.Response, x.Broke, x.Error, want[i])
					}
					if who, known := conns[x.Conn]; known && who != want[i] {
						t.Errorf("connection %d is that of %s and of %s", x.Conn, who, want[i])
					}
					conns[x.Conn] = want[i]
				}
				if wantConns := map[bool]int{true: 3, false: 6}[h2]; len(conns) != wantConns || burst.Copies != 6 {
					t.Errorf("%d connections, want %d; burst %+v", len(conns), wantConns, burst)
				}
			}
			for i, s := range shots {
				if x := client.Send(t.Context(), s); !x.Complete() || x.Response.Body.Text != want[i] {
					t.Errorf("alone: %+v, broke in %q: %s; want %s", x.Response, x.Broke, x.Error, want[i])
				}
			}
		}
	}
}

// TestStranger: without a certificate, or with one that the server does not know, no answer is forged. Over TLS 1.3 the
// server says so only after the request was written.
func TestStranger(t *testing.T) {
	alice, mallory := certificateOf(t, "alice"), certificateOf(t, "mallory")
	for max, phases := range map[uint16][]trace.Phase{
		tls.VersionTLS12: {trace.PhaseTLS},
		tls.VersionTLS13: {trace.PhaseWrite, trace.PhaseAnswer, trace.PhaseTLS, trace.PhaseDial},
	} {
		for _, h2 := range []bool{true, false} {
			server := whoServer(t, h2, max, alice)
			for _, who := range []*tls.Certificate{nil, mallory} {
				s := order(server.URL)
				s.Certificate = who
				x := New(Options{TLS: insecure()}).Send(t.Context(), s)
				if x.Complete() || !slices.Contains(phases, x.Broke) || x.LockedOut() != (who == nil) {
					t.Errorf("TLS %x, HTTP/2 %t: %+v, broke in %q: %s", max, h2, x.Response, x.Broke, x.Error)
				}
			}
		}
	}
}

// TestResolve: addresses stand for a host and its port, the first one that takes the connection is used, and the name stays.
func TestResolve(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Host, r.TLS.ServerName)
	}))
	server.StartTLS()
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	var asked []string
	var mu sync.Mutex
	client := New(Options{TLS: insecure(), Resolve: func(host, port string) []string {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, host+" "+port)
		if host != "shop.test" {
			return nil
		}
		return []string{"127.0.0.2", "127.0.0.1"}
	}})
	x := client.Send(t.Context(), order(fmt.Sprintf("https://shop.test:%d", port)))
	if want := fmt.Sprintf("shop.test:%d shop.test", port); !x.Complete() || x.Response.Body.Text != want {
		t.Errorf("%+v, broke in %q: %s; want %s", x.Response, x.Broke, x.Error, want)
	}
	if want := []string{fmt.Sprintf("shop.test %d", port)}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if x := client.Send(t.Context(), order(server.URL)); !x.Complete() {
		t.Errorf("a host without addresses of its own: broke in %q: %s", x.Broke, x.Error)
	}
}

// TestProxyOfSome: a proxy is asked for those URLs only that it is for, and its own name is resolved like any other.
func TestProxyOfSome(t *testing.T) {
	var asked atomic.Int64
	proxy := forward(t, &asked)
	named := *proxy
	named.Host = "proxy.test:" + proxy.Port()
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	client := New(Options{
		Proxy: func(u *url.URL) *url.URL {
			if u.Path == "/direct" {
				return nil
			}
			return &named
		},
		Resolve: func(host, _ string) []string {
			if host == "proxy.test" {
				return []string{"127.0.0.1"}
			}
			return nil
		},
	})
	for path, want := range map[string]int64{"/direct": 0, "/orders": 1} {
		asked.Store(0)
		s := order(server.URL)
		s.URL = server.URL + path
		if x := client.Send(t.Context(), s); !x.Complete() || asked.Load() != want {
			t.Errorf("%s: the proxy was asked %d times, want %d; broke in %q: %s", path, asked.Load(), want, x.Broke, x.Error)
		}
	}
}
