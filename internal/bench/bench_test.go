package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/fire"
)

func TestMain(m *testing.M) {
	if part := os.Getenv(partEnv); part != "" {
		if err := runPart(part, os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func watch(t *testing.T) *watched {
	t.Helper()
	server, err := watchArrivals()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.stop)
	return server
}

// Every technique gets all its copies to a server in another process, in every round.
func TestTechniques(t *testing.T) {
	server := watch(t)
	all, idle := techniques(server.arrivalURLs)
	defer idle()
	const rounds = 3
	measured, err := arrive(server, all, rounds, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, tech := range all {
		m := measured[i]
		if len(m.endGap) != rounds || len(m.entrySpread) != rounds || len(m.wall) != rounds || len(m.cpu) != rounds {
			t.Errorf("%s: expected %d rounds, found %+v", tech.name, rounds, m)
		}
		if mean(m.endGap) <= 0 || mean(m.wall) <= 0 {
			t.Errorf("%s: expected times, found %+v", tech.name, m)
		}
	}
	if lines := ratioLines(all, measured, 2); len(lines) != 3 {
		t.Errorf("expected a ratio for h1, TLS and h2, found %q", lines)
	}
}

// The least that a tool of ours can do is tried like the others, over both versions.
func TestTry(t *testing.T) {
	server := watch(t)
	b := bench{dir: t.TempDir()}
	for _, own := range ownTools("", server.self) {
		if err := b.try(server, own); err != nil {
			t.Errorf("%s: %v", own.name, err)
		}
	}
	nothing := tool{name: "nothing", command: func(a attempt) (command, error) {
		return command{path: server.self, args: []string{fire.FiringH1}, env: []string{partEnv + "=" + partRound}}, nil
	}}
	err := b.try(server, nothing)
	if err == nil || !strings.Contains(err.Error(), "0 of them over HTTP/2, found 1, 0 and 0") {
		t.Errorf("expected a tool that sends nothing to be refused, found %v", err)
	}
}

// A tool that falls back to another version of HTTP would be measured as what it is not.
func TestTryVersion(t *testing.T) {
	server := watch(t)
	fallen := tool{name: "fallen", secure: true, command: func(a attempt) (command, error) {
		args := []string{fire.FiringH1, a.url, a.key}
		return command{path: server.self, args: args, env: []string{partEnv + "=" + partRound}}, nil
	}}
	b := bench{dir: t.TempDir()}
	err := b.try(server, fallen)
	if err == nil || !strings.Contains(err.Error(), "5 of them over HTTP/2, found 0, 5 and 0") {
		t.Errorf("expected HTTP/1.1 to be refused where HTTP/2 is meant, found %v", err)
	}
}

func TestRunOfNothing(t *testing.T) {
	if code, output := (command{path: "/nonexistent"}).run(); code != -1 || output == "" {
		t.Errorf("expected -1 and a reason, found %d %q", code, output)
	}
}

// The count is taken when it has stopped moving.
func TestSettled(t *testing.T) {
	var looks atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/orders/count" || r.FormValue("reference") != "k" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintf(w, `{"count": %d}`, min(looks.Add(1), 3))
	}))
	defer server.Close()
	shop := &running{direct: server.URL, client: fire.New(fire.Options{})}
	n, err := settled(context.Background(), shop, "k", 30*time.Millisecond)
	if n != 3 || err != nil {
		t.Errorf("expected 3, found %d, %v", n, err)
	}
}

// What goes through the network arrives whole and in order.
func TestNetwork(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		conn, err := echo.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn)
	}()
	l, err := network(echo.Addr().String(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const text = "0123456789"
	for i := range text {
		if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	back := make([]byte, len(text))
	if _, err := io.ReadFull(conn, back); err != nil || string(back) != text {
		t.Errorf("expected %s, found %s, %v", text, back, err)
	}
}
