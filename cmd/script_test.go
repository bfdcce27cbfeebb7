package cmd

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"retrysafe/fixtures"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // the scripts mostly wait; -parallel still says otherwise
	testscript.Main(m, map[string]func(){
		"retrysafe": func() { os.Exit(Main(System("test"), os.Args[1:])) },
		"retrier":   func() { os.Exit(retrier()) },
		"signer":    func() { os.Exit(signer()) },
	})
}

// TestScripts runs the command line as a user would; the scripts are its specification. Under the race detector, where each start
// of a program takes a second, it runs those that have several things at once and few programs.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := scriptParams(t)
	if raceEnabled {
		p.Dir = ""
		for _, name := range []string{"bounds", "fault", "honest", "not-the-endpoint", "shard", "sinks"} {
			p.Files = append(p.Files, filepath.Join("testdata", "script", name+".txtar"))
		}
	}
	testscript.Run(t, p)
}

func scriptParams(t *testing.T) testscript.Params {
	var free ports
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"shop":      func(ts *testscript.TestScript, _ bool, args []string) { startShop(ts, &free, args) },
		"answer":    startAnswer,
		"inherited": startInherited,
		"code":      exitsWith,
		"age":       age,
		"post":      post,
	}
	maps.Copy(commands, networkCommands())
	return testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("NO_COLOR", "1")
			addr, err := free.free()
			e.Setenv("SINK", addr) // an address to listen on
			e.Setenv("SINK_URL", "http://"+addr)
			return err
		},
		Cmds: commands,
	}
}

// exitsWith runs a command and wants an exact exit code: code N COMMAND ARGS...
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// startShop serves the built-in shop until the script ends: shop [FAULT...]. $RETRYSAFE_TARGET is its URL. With
// -tls first it serves HTTPS and writes the certificate to shop.pem; -ttl D sets how long it remembers keys; -sqlite FILE is
// where it keeps everything. With
// -sinks it sends to where $RETRYSAFE_SINK_HTTP and $RETRYSAFE_SINK_SMTP say that sinks listen.
func startShop(ts *testscript.TestScript, free *ports, args []string) {
	o := fixtures.ServeOptions{}
	if len(args) > 0 && args[0] == "-sinks" {
		args = args[1:]
		http, err := free.free()
		ts.Check(err)
		smtp, err := free.free()
		ts.Check(err)
		ts.Setenv("RETRYSAFE_SINK_HTTP", http)
		ts.Setenv("RETRYSAFE_SINK_SMTP", smtp)
		o.Shop.Provider, o.Shop.SMTP = "http://"+http, smtp
	}
	if len(args) > 0 && args[0] == "-tls" {
		o.TLS, args = true, args[1:]
	}
	if len(args) > 1 && args[0] == "-ttl" {
		ttl, err := time.ParseDuration(args[1])
		ts.Check(err)
		o.Shop.TTL, args = ttl, args[2:]
	}
	if len(args) > 1 && args[0] == "-sqlite" {
		o.Store, args = "sqlite="+ts.MkAbs(args[1]), args[2:]
	}
	o.Shop.Faults = args
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	o.Ready = func(url string, certPEM []byte) {
		if certPEM != nil {
			ts.Check(os.WriteFile(ts.MkAbs("shop.pem"), certPEM, 0o600))
		}
		ready <- url
	}
	go func() { done <- fixtures.Serve(ctx, o) }()
	select {
	case url := <-ready:
		ts.Setenv("RETRYSAFE_TARGET", url)
	case err := <-done:
		ts.Fatalf("the shop did not start: %v", err)
	}
	ts.Defer(func() {
		stop()
		<-done
	})
}

// age makes every key of a ledger older, and has the shop forget it where a URL is given: age FILE D [URL].
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: age FILE D [URL]")
	}
	d, err := time.ParseDuration(args[1])
	ts.Check(err)
	var f map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &f))
	for _, e := range f["entries"].([]any) {
		entry := e.(map[string]any)
		at, err := time.Parse(time.RFC3339Nano, entry["answered"].(string))
		ts.Check(err)
		entry["answered"] = at.Add(-d).Format(time.RFC3339Nano)
		if len(args) > 2 {
			answer, err := http.Post(args[2]+"/_/expire?key="+entry["key"].(string), "", nil)
			ts.Check(err)
			ts.Check(answer.Body.Close())
		}
	}
	text, err := json.Marshal(f)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

// post sends an empty request: post URL.
func post(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: post URL")
	}
	answer, err := http.Post(args[0], "", nil)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if answer.StatusCode/100 != 2 {
		ts.Fatalf("%s is answered with %s", args[0], answer.Status)
	}
}

// startAnswer serves the same answer to everything: answer STATUS CONTENT-TYPE BODY. $RETRYSAFE_TARGET is its URL.
func startAnswer(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: answer STATUS CONTENT-TYPE BODY")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", args[1])
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(args[2], "PATH", r.URL.Path))
	}))
	ts.Setenv("RETRYSAFE_TARGET", s.URL)
	ts.Defer(s.Close)
}
