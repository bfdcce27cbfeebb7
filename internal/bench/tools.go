package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"retrysafe/internal/fire"
)

// tool is something that sends copies of an order.
type tool struct {
	name    string
	ours    bool
	secure  bool // it is sent to the shop with HTTPS, for HTTP/2
	whole   bool // a whole run: exit code 1 means found, 0 and 3 not found. Of the others the orders are counted.
	command func(attempt) (command, error)
}

// of picks what the tool is sent to.
func (t tool) of(plain, secure string) string {
	if t.secure {
		return secure
	}
	return plain
}

// attempt is what changes between invocations. dir is a folder for files that last until the next one.
type attempt struct{ url, key, dir string }

// command is a process to be.
type command struct {
	path  string
	args  []string
	stdin string
	env   []string // besides the environment of this process
}

// run gives the exit code, -1 when there is none, and what the process printed.
func (c command) run() (code int, output string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, c.path, c.args...)
	process.Stdin = strings.NewReader(c.stdin)
	process.Env = append(os.Environ(), c.env...)
	// Grandchildren may hold the pipes of a process that was ended.
	process.WaitDelay = time.Second
	var out bytes.Buffer
	process.Stdout, process.Stderr = &out, &out
	err := process.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return -1, err.Error()
	}
	return process.ProcessState.ExitCode(), out.String()
}

// findTools gives our own tools, the others that are in dir or in PATH, and the names of those that are not. bin is
// retrysafe, self this program.
func findTools(bin, self, dir string) (found []tool, missing []string) {
	found = ownTools(bin, self)
	for _, p := range peers() {
		path, ok := look(dir, p.program)
		if ok && p.helper != "" {
			p.helper, ok = look(dir, p.helper)
		}
		if !ok {
			missing = append(missing, p.name)
			continue
		}
		found = append(found, tool{name: p.name, secure: p.secure, command: func(a attempt) (command, error) {
			c, err := p.build(a, p.helper)
			c.path = path
			return c, err
		}})
	}
	return found, missing
}

func look(dir, program string) (string, bool) {
	if dir != "" {
		// Without a slash, LookPath looks in PATH instead.
		if abs, err := filepath.Abs(filepath.Join(dir, program)); err == nil {
			if path, err := exec.LookPath(abs); err == nil {
				return path, true
			}
		}
	}
	path, err := exec.LookPath(program)
	return path, err == nil
}

func ownTools(bin, self string) []tool {
	round := func(firing string) func(attempt) (command, error) {
		return func(a attempt) (command, error) {
			return command{path: self, args: []string{firing, a.url, a.key}, env: []string{partEnv + "=" + partRound}}, nil
		}
	}
	run := func(more ...string) func(attempt) (command, error) {
		return func(a attempt) (command, error) {
			return command{path: bin, args: append(wholeArgs(), more...), env: []string{"RETRYSAFE_TARGET=" + a.url}}, nil
		}
	}
	return []tool{
		{name: "retrysafe, one round, h1", ours: true, command: round(fire.FiringH1)},
		{name: "retrysafe, one round, h2", ours: true, secure: true, command: round(fire.FiringH2)},
		{name: "retrysafe run, h1", ours: true, whole: true, command: run()},
		{name: "retrysafe run, h2", ours: true, whole: true, secure: true, command: run()},
		{name: "retrysafe run --effort smoke, h1", ours: true, whole: true, command: run("--effort", "smoke")},
	}
}

// peer is a tool by others. build makes its command, all but the path; helper is a second program that it needs.
type peer struct {
	name, program, helper string
	secure                bool
	build                 func(a attempt, helper string) (command, error)
}

func peers() []peer {
	return []peer{
		{name: "hey", program: "hey", build: func(a attempt, _ string) (command, error) { return command{args: heyArgs(a)}, nil }},
		{name: "hey -h2", program: "hey", secure: true, build: func(a attempt, _ string) (command, error) {
			return command{args: append([]string{"-h2"}, heyArgs(a)...)}, nil
		}},
		{name: "vegeta", program: "vegeta", build: vegeta},
		{name: "nuclei, race mode", program: "nuclei", build: nuclei},
		{name: "curl -Z --parallel-immediate", program: "curl", build: func(a attempt, _ string) (command, error) {
			return command{args: curlParallel(a)}, nil
		}},
		{name: "curl -Z --parallel-immediate --http2", program: "curl", secure: true,
			build: func(a attempt, _ string) (command, error) {
				return command{args: curlParallel(a, "--http2")}, nil
			}},
		{name: "xargs -P5 curl", program: "xargs", helper: "curl", build: xargs},
	}
}

// heyArgs are five workers with a request each.
func heyArgs(a attempt) []string {
	n := strconv.Itoa(peerCopies)
	return []string{"-n", n, "-c", n, "-m", "POST", "-T", "application/json", "-H", "Idempotency-Key: " + a.key,
		"-d", payload(a.key), a.url + "/orders"}
}

// curlArgs are one order. The first argument keeps the user's configuration out, and no proxy from the environment is used.
func curlArgs(a attempt) []string {
	return []string{"-q", "-s", "-S", "-k", "--noproxy", "*", "-H", "Content-Type: application/json",
		"-H", "Idempotency-Key: " + a.key, "-d", payload(a.key)}
}

// curlParallel are five transfers in one process.
func curlParallel(a attempt, more ...string) []string {
	args := append(curlArgs(a), "-Z", "--parallel-immediate")
	args = append(args, more...)
	for range peerCopies {
		args = append(args, "-o", os.DevNull, a.url+"/orders")
	}
	return args
}
