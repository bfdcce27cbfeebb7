package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/internal/judge"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/sink"
	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// sinkOptions are the flags of sink.
type sinkOptions struct {
	listen, first           string
	times, operations       int
	retryAfter, wait, still time.Duration
	key, operationHeader    string
	ignore                  []string
	status                  int
	body                    string
	env                     []string
	report                  string
	failOn                  string
	allowHosts              []string
	quiet                   bool
}

// sinkURLVariable is the environment variable in which the client under test finds the sink.
const sinkURLVariable = "RETRYSAFE_SINK_URL"

func newSinkCmd(env Env) *cobra.Command {
	o := &sinkOptions{}
	c := &cobra.Command{
		Use:   "sink [-- COMMAND ARGS...]",
		Short: "Test a client, worker or proxy that retries: listen, fail its first call, and look at the next",
		Long: `Test a client, a worker or a proxy that retries. It listens for calls, fails the first one of each operation as --first
says, and looks at the retry: does it carry the same key and the same body, and does it come no sooner than Retry-After asked?

The first line on standard output is the URL. A COMMAND is started with that URL in the environment variable ` + sinkURLVariable + `,
and the sink ends when it does. Otherwise the sink ends when --operations of them have been served, after --for, or with Ctrl-C.

Calls belong to one operation when they carry the same key, or else when method, path and content are the same once UUIDs,
times and the key are taken out of it. Where that does not tell operations apart, --operation-header does.

Exit codes: 0 every retry carried the key of its first attempt; 1 one did not; 2 wrong usage; 3 could not be judged, because
nothing was sent again, say; 130 interrupted.`,
		Example: `  retrysafe sink -- npm run charge-once
  retrysafe sink --listen 127.0.0.1:8099 --first drop --report json=sink.json
  retrysafe sink --first 429 --retry-after 2s --operations 3`,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			if len(args) > 0 && c.ArgsLenAtDash() != 0 {
				return usagef("retrysafe sink -- COMMAND ARGS...", "expected -- before the command, found %q", args[0])
			}
			return o.run(c.Context(), env, args, opts)
		}),
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.StringSliceVar(&o.allowHosts, "allow-host", nil, "an address that may be listened on besides loopback, such as 0.0.0.0")
	f.StringVar(&o.first, "first", "503", "how to fail: a status of 400 to 599, drop (close the connection), or timeout (no answer)")
	f.IntVar(&o.times, "times", 1, "how many calls of each operation fail")
	f.DurationVar(&o.retryAfter, "retry-after", time.Second, "Retry-After of a failing answer, in whole seconds; 0 for none")
	f.StringVar(&o.key, "key-header", "Idempotency-Key", "header that carries the key")
	f.StringVar(&o.operationHeader, "operation-header", "", "header whose value tells operations apart")
	f.StringSliceVar(&o.ignore, "ignore", nil, "JSONPath of a part of the body that may differ between attempts (repeatable)")
	f.IntVar(&o.operations, "operations", 1, "how many operations the client performs")
	f.DurationVar(&o.wait, "for", time.Minute, "longest time to listen")
	f.DurationVar(&o.still, "settle", 300*time.Millisecond, "how long to go on listening when all is served")
	f.IntVar(&o.status, "status", 200, "status of calls that do not fail")
	f.StringVar(&o.body, "json", `{"id": "{{uuid}}"}`, "JSON body of calls that do not fail; {{uuid}}, {{now}} and {{key}} are filled in")
	f.StringSliceVar(&o.env, "env", nil, "another environment variable that gets the URL (repeatable)")
	f.StringVar(&o.report, "report", "", "write a report besides the terminal's, as json=FILE")
	f.StringVar(&o.failOn, "fail-on", string(trace.Major), "least severity that fails: critical, major or minor")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no terminal report, only the exit code and the other reports")
	return c
}

// stub is the sink that the flags stand for, written as a plan so that the same checks hold.
func (o *sinkOptions) stub() (*plan.Sink, error) {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil || host == "" {
		return nil, usagef("", "--listen: expected an address such as 127.0.0.1:8099, found %q", o.listen)
	}
	if port == "0" {
		port = "1" // a plan has to name its port
	}
	answer, first, s, doc := object{}, object{}, object{}, object{}
	answer.set("status", o.status)
	if o.body != "" {
		answer.raw("body", plainJSON([]byte(o.body)))
	}
	s.set("http", net.JoinHostPort(host, port))
	key := object{}
	key.set("header", o.key)
	s.raw("key", key.bytes())
	s.raw("answer", answer.bytes())
	s.set("ignore", append([]string{}, o.ignore...))
	switch status, err := strconv.Atoi(o.first); {
	case err == nil && status >= 400 && status <= 599:
		first.set("status", status)
		if o.retryAfter > 0 {
			first.set("retry_after", o.retryAfter.String())
		}
		s.raw("first", first.bytes())
	case o.first == trace.FailedDrop || o.first == trace.FailedTimeout:
		s.set("first", o.first)
	default:
		return nil, usagef("", "--first: expected a status from 400 to 599, drop or timeout, found %q", o.first)
	}
	sinks := object{}
	sinks.raw("client", s.bytes())
	doc.set("version", 1)
	doc.raw("sinks", sinks.bytes())
	doc.raw("endpoints", []byte(`[{"name": "none", "request": "POST http://127.0.0.1/"}]`))
	p, err := plan.ParseWith("", doc.bytes(), nil, plan.Overrides{AllowHosts: o.allowHosts})
	if err != nil {
		return nil, flagError("retrysafe sink --help", err)
	}
	return p.Counters["client"].Sink, nil
}

// check says what is wrong with the flags that the plan does not check.
func (o *sinkOptions) check() error {
	switch {
	case o.times < 1 || o.times > 1000:
		return usagef("", "--times: expected 1 to 1000, found %d", o.times)
	case o.operations < 1:
		return usagef("", "--operations: expected 1 or more, found %d", o.operations)
	case o.wait <= 0 || o.still < 0 || o.retryAfter < 0:
		return usagef("", "--for, --settle and --retry-after: expected a duration above zero")
	case o.retryAfter%time.Second != 0:
		return usagef("--retry-after 1s", "--retry-after: expected whole seconds, which is what the header holds, found %s", o.retryAfter)
	case o.body != "" && !json.Valid([]byte(o.body)):
		return usagef("", "--json: expected JSON, found %q", o.body)
	}
	return nil
}

func (o *sinkOptions) run(ctx context.Context, env Env, command []string, look report.Options) error {
	if err := o.check(); err != nil {
		return err
	}
	stub, err := o.stub()
	if err != nil {
		return err
	}
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return usagef("retrysafe sink -- COMMAND ARGS...", "cannot start the client: %s", err)
		}
	}
	failOn, err := severity(o.failOn)
	if err != nil {
		return err
	}
	file, err := o.jsonFile()
	if err != nil {
		return err
	}
	rules, err := scenarios.Rules()
	if err != nil {
		return err
	}
	start := time.Now()
	clock := func() trace.Nanos { return trace.Nanos(max(1, time.Since(start))) }
	service, err := sink.Serve(sink.ServiceOptions{Address: o.listen, Key: stub.Key, Answer: stub.Answer, Clock: clock, Fail: o.failing(stub.First)})
	if err != nil {
		return usagef("another --listen", "%s", err)
	}
	out := env.Stdout
	if file == "-" {
		out = env.Stderr
	}
	fmt.Fprintln(out, service.URL)
	ended := o.listenTo(ctx, env, service, command)
	calls, lost, _ := service.All()
	service.Close()
	r := &trace.ClientRun{Schema: trace.ClientSchemaV1, Calls: append([]trace.Arrival{}, calls...), Info: trace.ClientInfo{
		Started: start.UTC(), ElapsedMS: time.Since(start).Milliseconds(), URL: service.URL,
		Tool: trace.Tool{Name: "retrysafe", Version: env.Version},
		Key:  stub.Key, OperationHeader: o.operationHeader, IgnoreJSON: o.ignore,
		First: o.first, Times: o.times, Announced: o.operations,
		Ended: ended, Interrupted: ctx.Err() != nil, Lost: lost, FailOn: failOn,
	}}
	redactor := redact.New(nil, []string{service.URL})
	redactor.Learn(r.Calls)
	for i := range r.Calls {
		redactor.Arrival(&r.Calls[i])
	}
	catalogue := judge.Catalogue{}
	for _, rule := range rules {
		catalogue[rule.ID] = rule
	}
	judge.Client(r, catalogue)
	look.Rules = rules
	return o.write(env, out, file, r, look)
}

// write writes the reports and gives the error that stands for the exit code.
func (o *sinkOptions) write(env Env, out io.Writer, file string, r *trace.ClientRun, look report.Options) error {
	if !o.quiet {
		if err := report.Client(out, r, look); err != nil {
			return err
		}
	}
	if file != "" {
		if err := writeClientJSON(env, file, r); err != nil {
			return usagef("", "%s", err)
		}
	}
	if r.Summary.ExitCode != ExitOK {
		return exitError(r.Summary.ExitCode)
	}
	return nil
}

// jsonFile is the file of --report json=FILE; empty when none was asked for.
func (o *sinkOptions) jsonFile() (string, error) {
	if o.report == "" {
		return "", nil
	}
	file, ok := strings.CutPrefix(o.report, "json=")
	if !ok || file == "" {
		return "", usagef("", "--report: expected json=FILE, or json=- for standard output, found %q", o.report)
	}
	if err := writable(file); err != nil {
		return "", usagef("", "--report: json: %s", err)
	}
	return file, nil
}

func writeClientJSON(env Env, file string, r *trace.ClientRun) error {
	if file == "-" {
		return report.ClientJSON(env.Stdout, r)
	}
	var text bytes.Buffer
	if err := report.ClientJSON(&text, r); err != nil {
		return err
	}
	return replaceFile(file, text.Bytes())
}

// failing fails the first calls of each operation.
func (o *sinkOptions) failing(first *plan.Failure) func(trace.Arrival) *plan.Failure {
	ops := judge.Operations{Header: o.operationHeader}
	failed := map[int]int{}
	return func(a trace.Arrival) *plan.Failure {
		if !judge.NeedsKey(a.Call) {
			return nil
		}
		op := ops.Add(a.Call)
		if failed[op] >= o.times {
			return nil
		}
		failed[op]++
		return first
	}
}

// listenTo waits until everything was served, the command or the time has ended, or ctx has. It says which.
func (o *sinkOptions) listenTo(ctx context.Context, env Env, service *sink.Service, command []string) string {
	limit, end := context.WithTimeout(ctx, o.wait)
	defer end()
	exited := make(chan error, 1)
	if len(command) > 0 {
		c := o.client(limit, env, service.URL, command)
		go func() { exited <- c.Run() }()
	}
	defer func() {
		end()
		if len(command) > 0 {
			<-exited
		}
	}()
	for {
		calls, _, next := service.All()
		if len(command) == 0 && o.served(calls) {
			if !pauseUntil(limit, next, o.still) {
				continue
			}
			return "every operation was served"
		}
		select {
		case <-next:
		case err := <-exited:
			exited <- nil // for the deferred wait
			return commandEnd(err)
		case <-limit.Done():
			if ctx.Err() != nil {
				return "it was interrupted"
			}
			return fmt.Sprintf("%s had passed", o.wait)
		}
	}
}

func commandEnd(err error) string {
	if err != nil {
		return fmt.Sprintf("the command ended: %s", err)
	}
	return "the command ended"
}

// pauseUntil waits for d and reports whether nothing came meanwhile.
func pauseUntil(ctx context.Context, next <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-next:
		return false
	case <-ctx.Done():
	case <-timer.C:
	}
	return true
}

// served reports whether as many operations as were announced have had a call that did not fail.
func (o *sinkOptions) served(calls []trace.Arrival) bool {
	ops := judge.Operations{Header: o.operationHeader}
	done := map[int]bool{}
	for _, a := range calls {
		if !judge.NeedsKey(a.Call) {
			continue
		}
		if op := ops.Add(a.Call); a.Call.Failed == "" {
			done[op] = true
		}
	}
	return len(done) >= o.operations
}

// client is the command under test. What it prints goes to standard error, so that the report stands alone.
func (o *sinkOptions) client(ctx context.Context, env Env, url string, command []string) *exec.Cmd {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 2 * time.Second
	c.Stdin, c.Stdout, c.Stderr = env.Stdin, env.Stderr, env.Stderr
	c.Env = os.Environ()
	for _, name := range slices.Concat([]string{sinkURLVariable}, o.env) {
		c.Env = append(c.Env, strings.TrimSpace(name)+"="+url)
	}
	return c
}
