package cmd

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"retrysafe/fixtures"
)

// networkCommands are those of scripts about networks.
func networkCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"guarded": startGuarded,
		"signed":  startSigned,
		"proxy":   startProxy,
		"socket":  startSocket,
		"starts":  startLate,
	}
}

// shopFor is a shop that forgets no key, however long a slow machine takes for a round.
func shopFor(ts *testscript.TestScript, faults []string) http.Handler {
	shop, err := fixtures.NewShop(fixtures.Options{Faults: faults, TTL: time.Hour})
	ts.Check(err)
	return shop
}

// as is the request as its caller sends it to a shop that knows tokens only.
func as(r *http.Request, caller string) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	if caller != "" {
		r.Header.Set("Authorization", "Bearer "+caller)
	}
	return r
}

// handshakeTime is that of a connection through a network, beside the 2 ms or so of its cryptography. The shop takes 20 ms for an order: copies
// that set out only when they are due would come behind it.
const handshakeTime = 3 * time.Millisecond

// startGuarded serves a shop that knows its callers by the certificates of their connections: guarded [-optional] [FAULT...].
// Without -optional none is let in without one. A request whose X-Caller is not the owner of its connection gets 403.
// $RETRYSAFE_TARGET is its URL, shop.pem what to trust, alice.pem and alice.key, bob.pem and bob.key are callers.
func startGuarded(ts *testscript.TestScript, _ bool, args []string) {
	demand := tls.RequireAndVerifyClientCert
	if len(args) > 0 && args[0] == "-optional" {
		demand, args = tls.VerifyClientCertIfGiven, args[1:]
	}
	shop, known := shopFor(ts, args), x509.NewCertPool()
	for _, name := range []string{"alice", "bob"} {
		known.AddCert(writeCaller(ts, name))
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner := ""
		if len(r.TLS.PeerCertificates) > 0 {
			owner = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		switch claims := r.Header.Get("X-Caller"); {
		case owner == "":
			http.Error(w, `{"error":"no certificate"}`, http.StatusUnauthorized)
		case claims != "" && claims != owner:
			http.Error(w, `{"error":"the connection of `+owner+` was used by `+claims+`"}`, http.StatusForbidden)
		default:
			shop.ServeHTTP(w, as(r, owner))
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes are meant to fail
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: demand, ClientCAs: known}
	server.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		time.Sleep(handshakeTime)
		return nil, nil
	}
	server.StartTLS()
	ts.Defer(server.Close)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("shop.pem"), own, 0o600))
	ts.Setenv("RETRYSAFE_TARGET", server.URL)
}

// writeCaller writes the certificate and the private key of a caller.
func writeCaller(ts *testscript.TestScript, name string) *x509.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		ts.Check(os.WriteFile(ts.MkAbs(file), pem.EncodeToMemory(block), 0o600))
	}
	leaf, err := x509.ParseCertificate(der)
	ts.Check(err)
	return leaf
}

// signingKey is the secret of a caller of a signed shop.
func signingKey(caller string) []byte { return []byte("signing key of " + caller) }

// signature is what proves that a caller sent a request: over everything that matters of it, and a nonce.
func signature(caller, nonce, method, target, host, key string, body []byte) string {
	mac := hmac.New(sha256.New, signingKey(caller))
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n%s\n%x", nonce, method, target, host, key, sha256.Sum256(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// startSigned serves a shop that knows its callers by signatures, each of which is good for one request: signed [FAULT...].
func startSigned(ts *testscript.TestScript, _ bool, args []string) {
	shop := shopFor(ts, args)
	var mu sync.Mutex
	used := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		caller, nonce := r.Header.Get("X-Signer"), r.Header.Get("X-Nonce")
		want := signature(caller, nonce, r.Method, r.URL.RequestURI(), r.Host, strings.Join(r.Header.Values("Idempotency-Key"), ","), body)
		mu.Lock()
		good := r.Header.Get("X-Signature") == want && !used[nonce]
		used[nonce] = true
		mu.Unlock()
		if !good {
			http.Error(w, `{"error":"bad signature"}`, http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		w.Header().Set("X-Signed-With", want) // an echo must not show it either
		shop.ServeHTTP(w, as(r, caller))
	}))
	ts.Defer(server.Close)
	ts.Setenv("RETRYSAFE_TARGET", server.URL)
}

// signer is a command for `sign` of a plan: signer CALLER, or signer WAY to go wrong.
func signer() int {
	var r struct {
		Method, URL, Caller string
		Headers             []struct{ Name, Value string }
		Body                *string
		BodyBase64          string `json:"body_base64"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	body, err := base64.StdEncoding.DecodeString(r.BodyBase64)
	target, parseErr := url.Parse(r.URL)
	if err != nil || parseErr != nil || r.Body == nil || *r.Body != string(body) {
		fmt.Fprintf(os.Stderr, "the request is not what was announced: %v %v\n", err, parseErr)
		return 1
	}
	var keys []string
	host := ""
	for _, h := range r.Headers {
		switch h.Name {
		case "Idempotency-Key":
			keys = append(keys, strings.Trim(h.Value, " \t")) // as a server sees it
		case "Host":
			host = h.Value
		}
	}
	caller := os.Args[1]
	switch caller {
	case "fails":
		fmt.Fprintln(os.Stderr, "the vault is sealed")
		return 7
	case "hangs":
		select {}
	case "silent":
		return 0
	case "rekeys":
		fmt.Println("idempotency-key: another")
		return 0
	case "reframes":
		fmt.Println("Content-Length: 1")
		return 0
	}
	if caller != r.Caller {
		fmt.Fprintf(os.Stderr, "asked to sign for %s\n", r.Caller)
		return 1
	}
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	text := hex.EncodeToString(nonce)
	fmt.Printf("X-Signer: %s\nX-Nonce: %s\nX-Signature: %s\n", caller, text,
		signature(caller, text, r.Method, target.RequestURI(), host, strings.Join(keys, ","), body))
	return 0
}

// startProxy connects to $RETRYSAFE_TARGET, whatever host it is asked for: proxy. $PROXY is its address; it wants me:geheim99.
// $SHOP_PORT is the port of the target.
func startProxy(ts *testscript.TestScript, _ bool, _ []string) {
	target, err := url.Parse(ts.Getenv("RETRYSAFE_TARGET"))
	ts.Check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go tunnelTo(target.Host, conn)
		}
	}()
	ts.Setenv("SHOP_PORT", target.Port())
	ts.Setenv("PROXY", listener.Addr().String())
}

func tunnelTo(host string, conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:geheim99")) {
		fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
		return
	}
	to, err := net.Dial("tcp", host)
	if err != nil {
		return
	}
	defer to.Close()
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(to, in)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, to)
}

// startSocket serves a shop on the Unix socket $SOCKET: socket [FAULT...].
func startSocket(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := os.MkdirTemp("", "rs") // the script's folder may be too long for the address of a socket
	ts.Check(err)
	listener, err := net.Listen("unix", dir+"/s")
	ts.Check(err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: shopFor(ts, args)}}
	server.Start()
	ts.Defer(func() {
		server.Close()
		os.RemoveAll(dir)
	})
	ts.Setenv("SOCKET", dir+"/s")
}

// startLate serves a shop whose first answers are 503: starts N. $RETRYSAFE_TARGET is its URL, $ADDRESS its host and port.
func startLate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: starts N")
	}
	left, err := strconv.Atoi(args[0])
	ts.Check(err)
	shop := shopFor(ts, nil)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		left--
		down := left >= 0
		mu.Unlock()
		if down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		shop.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("RETRYSAFE_TARGET", server.URL)
	ts.Setenv("ADDRESS", server.Listener.Addr().String())
}
