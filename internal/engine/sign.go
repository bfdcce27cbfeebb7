package engine

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"retrysafe/internal/count"
	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// certificate is what connections of the caller present; nil for nothing of its own.
func (c credential) certificate() *tls.Certificate {
	if c.caller == nil {
		return nil
	}
	return c.caller.Certificate
}

// unsignedShot is a request that lacks nothing but its caller's signature. A repeat of it is signed anew, and is else the same.
type unsignedShot struct {
	r    *run
	shot fire.Shot
	// caller signs it; nil for nobody.
	caller *plan.Caller
	// key is where the request carries a key.
	key trace.KeyPlace
}

// signs reports whether a command is run for each sending.
func (u unsignedShot) signs() bool { return u.caller != nil && len(u.caller.Sign) > 0 }

// toSign is a request as a signing command reads it.
type toSign struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	// Headers are in the order of the wire, Host first; what the wire adds behind them, such as Content-Length, is left out.
	Headers []trace.Header `json:"headers"`
	// Body is the text of the body; left out where it is no UTF-8.
	Body *string `json:"body,omitempty"`
	// BodyBase64 are the bytes of the body.
	BodyBase64 []byte `json:"body_base64"`
	Caller     string `json:"caller"`
}

// sign adds what the caller's command prints for this very request. What it prints is secret.
func (u unsignedShot) sign(ctx context.Context) (fire.Shot, error) {
	if !u.signs() {
		return u.shot, nil
	}
	signed := u.shot
	lines, err := u.signature(ctx)
	if err != nil {
		return fire.Shot{}, fmt.Errorf("sign of caller %s: %w", u.caller.Name, err)
	}
	u.r.hide(lines)
	h := headerList(slices.Clone(u.shot.Header))
	for _, line := range lines {
		u.r.Redactor.Add(line.Value)
		h.set(line.Name, line.Value)
	}
	signed.Header = h
	if err := signed.Validate(); err != nil {
		return fire.Shot{}, fmt.Errorf("sign of caller %s: %w", u.caller.Name, err)
	}
	return signed, nil
}

// signAll signs requests that are to be sent together, several at a time. The error is that of the first one that could not be.
func signAll(ctx context.Context, all []unsignedShot) ([]fire.Shot, error) {
	shots := make([]fire.Shot, len(all))
	var signing errgroup.Group
	signing.SetLimit(pollParallel)
	for i, u := range all {
		if !u.signs() {
			shots[i] = u.shot
			continue
		}
		signing.Go(func() (err error) {
			shots[i], err = u.sign(ctx)
			return err
		})
	}
	return shots, signing.Wait()
}

// signBeforeJoin signs the single requests that the script sends while the open one of that label and step is under way: a command
// may take longer than that.
func (rd *round) signBeforeJoin(ctx context.Context, step int, label string) error {
	var sends []*scenarios.Send
	var all []unsignedShot
	for i := step + 1; i < len(rd.s.Steps) && rd.s.Steps[i].Join != label; i++ {
		s := rd.s.Steps[i].Send
		if s == nil || s.Together > 1 || s.Times > 1 || s.Key == scenarios.KeyFresh || s.Body == scenarios.BodyNested {
			continue
		}
		if caller := rd.e.callerFor(s.Caller); caller == nil || len(caller.Sign) == 0 {
			continue
		}
		if _, ready := rd.signed[s]; ready {
			continue
		}
		u, err := rd.unsigned(ctx, s, rd.identity(s, 0))
		if err != nil {
			return err
		}
		sends, all = append(sends, s), append(all, u)
	}
	shots, err := signAll(ctx, all)
	if err != nil {
		return err
	}
	if rd.signed == nil {
		rd.signed = map[*scenarios.Send]fire.Shot{}
	}
	for i, s := range sends {
		rd.signed[s] = shots[i]
	}
	return nil
}

// signature runs the command and reads what it printed.
func (u unsignedShot) signature(ctx context.Context) ([]trace.Header, error) {
	request, err := u.request()
	if err != nil {
		return nil, err
	}
	argv := count.Render(u.caller.Sign, values{scope: &scope{vars: u.caller.Vars}})
	printed, err := count.CommandWith(ctx, u.r.dirOf(u.caller.Pos.File), u.r.Plan.Limits.Request, argv, request)
	if err != nil {
		return nil, err
	}
	lines, err := headerLines(printed)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		switch {
		case u.key.In == "header" && strings.EqualFold(line.Name, u.key.Name):
			return nil, fmt.Errorf("expected a signature from the command, found the header %s, which carries the key", line.Name)
		case ofTheWire(line.Name):
			return nil, fmt.Errorf("expected a signature from the command, found the header %s, which follows from the request", line.Name)
		}
	}
	return lines, nil
}

// ofTheWire tells headers that say how and to whom a request is sent.
func ofTheWire(name string) bool {
	return slices.Contains([]string{"host", "connection", "content-length", "transfer-encoding", "expect", "te", "trailer", "upgrade"}, strings.ToLower(name))
}

// request is the shot as the command reads it, and the end of a line.
func (u unsignedShot) request() ([]byte, error) {
	target, err := url.Parse(u.shot.URL)
	if err != nil {
		return nil, err
	}
	s := toSign{Method: u.shot.Method, URL: u.shot.URL, BodyBase64: u.shot.Body, Caller: u.caller.Name}
	if s.BodyBase64 == nil {
		s.BodyBase64 = []byte{}
	}
	named := func(h trace.Header) bool { return strings.EqualFold(h.Name, "Host") }
	if !slices.ContainsFunc(u.shot.Header, named) {
		s.Headers = []trace.Header{{Name: "Host", Value: target.Host}}
	}
	s.Headers = append(s.Headers, u.shot.Header...)
	if text := string(u.shot.Body); utf8.ValidString(text) {
		s.Body = &text
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(s)
	return out.Bytes(), err
}
