package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"retrysafe/internal/count"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// credential is what a caller sends to be known: the plan's headers, what its log-in yielded for them, and the header lines
// that its command printed; what it presents, and how it signs. The zero value is nobody.
type credential struct {
	// caller is whose it is; nil for nobody.
	caller   *plan.Caller
	headers  []plan.HeaderTemplate
	captures map[string]string
	printed  []trace.Header
	at       trace.Nanos
}

// credentials keeps what callers obtained, by name.
type credentials struct {
	mu  sync.Mutex
	has map[string]*credential
}

// callerFor is the plan's caller behind the name that a script uses; nil for nobody.
func (r *run) callerFor(who string) *plan.Caller {
	i := 0
	switch who {
	case scenarios.CallerAnonymous, scenarios.CallerStripped:
		return nil
	case scenarios.CallerOther, scenarios.CallerImpostor:
		i = 1
	}
	if i >= len(r.Plan.Callers) {
		return nil
	}
	return &r.Plan.Callers[i]
}

// callerNamed is the caller of that name in the plan, the first one for an empty name; nil when there is none.
func (r *run) callerNamed(name string) *plan.Caller {
	for i := range r.Plan.Callers {
		if c := &r.Plan.Callers[i]; name == "" || c.Name == name {
			return c
		}
	}
	return nil
}

// anew obtains what the caller sends for one request alone: others go on with what they have, so that their retries are no
// other caller's for an endpoint that takes each token for one.
func (r *run) anew(ctx context.Context, c *plan.Caller) (credential, error) {
	fresh := credential{caller: c, headers: c.Headers, at: r.Clock()}
	if err := r.obtain(ctx, c, &fresh); err != nil {
		return credential{}, fmt.Errorf("credentials of caller %s: %w", c.Name, err)
	}
	return fresh, nil
}

// credential gives what the caller sends, obtained now when there is nothing yet, when it is older than its refresh, or when
// renew asks for it.
func (r *run) credential(ctx context.Context, c *plan.Caller, renew bool) (credential, error) {
	if c == nil {
		return credential{}, nil
	}
	if !c.Renewable() {
		return credential{caller: c, headers: c.Headers}, nil
	}
	r.creds.mu.Lock()
	defer r.creds.mu.Unlock()
	old := r.creds.has[c.Name]
	stale := old != nil && c.Refresh > 0 && (r.Clock()-old.at).Duration() >= c.Refresh
	if old != nil && !renew && !stale {
		return *old, nil
	}
	fresh, err := r.anew(ctx, c)
	if err != nil {
		return credential{}, err
	}
	if r.creds.has == nil {
		r.creds.has = map[string]*credential{}
	}
	r.creds.has[c.Name] = &fresh
	return fresh, nil
}

func (r *run) obtain(ctx context.Context, c *plan.Caller, into *credential) error {
	if len(c.Exec) > 0 {
		printed, err := count.Command(ctx, r.dirOf(c.Pos.File), r.Plan.Limits.Request, count.Render(c.Exec, values{scope: &scope{vars: c.Vars}}))
		if err != nil {
			return err
		}
		if into.printed, err = headerLines(printed); err != nil {
			return err
		}
		r.hide(into.printed)
	}
	if c.Login == nil {
		return nil
	}
	var x trace.Exchange
	for attempt := 0; ; attempt++ {
		v := values{scope: &scope{span: "0000000000000001", vars: c.Vars}}
		shot, err := r.request(ctx, c.Login.Request, c.Login.Headers, credential{caller: c}, c.Login.Body, trace.KeyPlace{}, v)
		if err != nil {
			return err
		}
		x = r.Client.Send(ctx, shot)
		wait, busy := busyFor(&x, attempt)
		if !busy || attempt >= busyAttempts || wait > retryAfterMost || !pause(ctx, wait) {
			break
		}
	}
	switch {
	case x.Wire == 0:
		return &noLogin{trace.Unreachable, fmt.Sprintf("no connection for the log-in %s: %s", c.Login.Request, x.Error)}
	case !x.Complete():
		return fmt.Errorf("%s: no answer: %s", c.Login.Request, x.Error)
	case x.Response.Status == http.StatusUnauthorized || x.Response.Status == http.StatusForbidden:
		return &noLogin{trace.Auth, fmt.Sprintf("the log-in %s was refused with %d", c.Login.Request, x.Response.Status)}
	case x.Response.Status/100 != 2:
		return fmt.Errorf("%s: expected a 2xx answer, found %d %s", c.Login.Request, x.Response.Status, r.Redactor.Message(excerpt(x.Response.Body)))
	}
	var err error
	if into.captures, err = capture(&x, c.Login.Capture); err != nil {
		return fmt.Errorf("%s: %w", c.Login.Request, err)
	}
	for _, value := range into.captures {
		r.Redactor.Add(value)
	}
	return nil
}

// hide makes the values of header lines that a command printed secrets, without a scheme such as Bearer in front.
func (r *run) hide(printed []trace.Header) {
	for _, h := range printed {
		_, secret, scheme := strings.Cut(h.Value, " ")
		if !scheme {
			secret = h.Value
		}
		r.Redactor.Add(secret)
	}
}

// noLogin is a log-in that failed for a reason of its own.
type noLogin struct {
	code trace.Code
	text string
}

func (e *noLogin) Error() string { return e.text }

// whyNot is the reason behind an error while a request was made; otherwise is the code when the error has none of its own.
func whyNot(err error, otherwise trace.Code, text string) *trace.Reason {
	var login *noLogin
	if errors.As(err, &login) {
		return &trace.Reason{Code: login.code, Detail: login.text}
	}
	return &trace.Reason{Code: otherwise, Detail: text}
}

// headerLines reads "Name: value" lines.
func headerLines(text string) ([]trace.Header, error) {
	var out []trace.Header
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("expected lines such as Authorization: Bearer TOKEN from the command, found a line without a header name")
		}
		out = append(out, trace.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("expected lines such as Authorization: Bearer TOKEN from the command, found nothing")
	}
	return out, nil
}

// apply adds the credential to the headers of a request.
func (c credential) apply(h *headerList, v values) error {
	for _, t := range c.headers {
		value, err := t.Render(withCaptures{v, c.captures})
		if err != nil {
			return err
		}
		h.set(t.Name, value)
	}
	for _, p := range c.printed {
		h.set(p.Name, p.Value)
	}
	return nil
}

// withCaptures looks names up in the captures of a log-in first.
type withCaptures struct {
	values
	captures map[string]string
}

// Lookup gives the value of a placeholder.
func (w withCaptures) Lookup(name string, limit int) string {
	if value, ok := w.captures[name]; ok {
		return value
	}
	return w.values.Lookup(name, limit)
}

// renewFrom obtains new credentials unless somebody has since those were obtained.
func (r *run) renewFrom(ctx context.Context, c *plan.Caller, used credential) error {
	r.creds.mu.Lock()
	has := r.creds.has[c.Name]
	r.creds.mu.Unlock()
	if has != nil && has.at > used.at {
		return nil
	}
	_, err := r.credential(ctx, c, true)
	return err
}

// ranOut reports whether an answer says that credentials are no longer good, and the caller can obtain new ones.
func ranOut(x *trace.Exchange, c *plan.Caller) bool {
	return c != nil && c.Renewable() && x.Complete() && x.Response.Status == http.StatusUnauthorized
}
