package sink

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// The bounds of a call. Calls of other services are small; a client that needs longer than the time-outs for one is stuck.
const (
	mostCallBody  = 1 << 20
	mostHead      = 64 << 10
	mostConns     = 256
	readingAtOnce = 16
	readTimeout   = 30 * time.Second
)

var errTooLarge = errors.New("too large")

// service answers calls in place of another service, once for each key.
type service struct {
	log    *Log
	key    string
	answer plan.SinkAnswer
	// lifetime is how long a key is remembered; 0 for ever.
	lifetime time.Duration
	// slots bound how many bodies are in memory at the same time.
	slots chan struct{}

	mu       sync.Mutex
	answered map[string]reply // by operation
}

// reply is a rendered answer.
type reply struct {
	status  int
	headers []trace.Header
	body    []byte
	at      trace.Nanos
}

func newService(l *Log, key string, lifetime time.Duration, answer plan.SinkAnswer) *service {
	return &service{log: l, key: key, lifetime: lifetime, answer: answer, slots: make(chan struct{}, readingAtOnce), answered: map[string]reply{}}
}

// serve answers calls on a listener until the returned function is called.
func (s *service) serve(l net.Listener) (stop func()) {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, MaxHeaderBytes: mostHead,
		ErrorLog: log.New(io.Discard, "", 0), // a broken client is no news
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(netutil.LimitListener(l, mostConns))
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.slots <- struct{}{}
	body, err := readUpTo(r.Body, mostCallBody)
	<-s.slots
	switch {
	case errors.Is(err, errTooLarge):
		s.log.lose(fmt.Sprintf("the body of a call, %s %s, is larger than %d bytes", r.Method, r.URL.Path, mostCallBody))
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		return // the client left in the middle: it asked for nothing
	}
	call := trace.Call{Request: requestOf(r, body), Key: strings.TrimSpace(r.Header.Get(s.key))}
	if s.key == "" {
		call.Key = ""
	}
	var fail *plan.Failure
	var a reply
	err = s.log.add(trace.Arrival{Call: &call}, callTexts(&call.Request, body), func(kept *trace.Arrival, how *plan.Failure) {
		fail = how
		if how == nil {
			a = s.reply(kept)
			kept.Call.Status = a.status
			return
		}
		a = note(kept.Call, how)
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
		return
	}
	send(w, r, a, fail)
}

// send gives an answer, or none.
func send(w http.ResponseWriter, r *http.Request, a reply, fail *plan.Failure) {
	switch {
	case fail != nil && fail.Hang:
		hang(r.Context())
		panic(http.ErrAbortHandler)
	case fail != nil && fail.Drop:
		panic(http.ErrAbortHandler) // closes the connection without a byte
	}
	for _, h := range a.headers {
		w.Header().Set(h.Name, h.Value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// note puts down how a call is failed, and gives the answer.
func note(c *trace.Call, how *plan.Failure) reply {
	switch {
	case how.Drop:
		c.Failed = trace.FailedDrop
		return reply{}
	case how.Hang:
		c.Failed = trace.FailedTimeout
		return reply{}
	}
	c.Failed, c.Status, c.RetryAfter = trace.FailedStatus, how.Status, trace.Nanos(how.RetryAfter)
	if c.Status == 0 {
		c.Status = http.StatusServiceUnavailable
	}
	a := reply{status: c.Status, headers: []trace.Header{{Name: "Content-Type", Value: "application/json"}},
		body: []byte(`{"error":"this call was failed on purpose: send it again"}` + "\n")}
	if how.RetryAfter > 0 {
		seconds := (how.RetryAfter + time.Second - 1) / time.Second
		a.headers = append(a.headers, trace.Header{Name: "Retry-After", Value: strconv.Itoa(int(seconds))})
	}
	return a
}

// hang waits until the client leaves, for a bounded time.
func hang(client context.Context) {
	timer := time.NewTimer(hangLimit)
	defer timer.Stop()
	select {
	case <-client.Done():
	case <-timer.C:
	}
}

// reply is the answer of a call, the same for each call of an operation.
func (s *service) reply(arrival *trace.Arrival) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := arrival.Call
	op := c.Operation()
	if a, known := s.answered[op]; known && op != "" && (s.lifetime == 0 || (arrival.At-a.at).Duration() < s.lifetime) {
		c.Again = true
		return a
	}
	v := drawn{key: c.Key, uuid: newUUID(), now: time.Now().UTC().Format(time.RFC3339)}
	a := reply{status: s.answer.Status, at: arrival.At}
	var err error
	if a.body, err = s.answer.Body.Render(v); err != nil {
		return unmade(err)
	}
	for _, h := range s.answer.Headers {
		value, err := h.Render(v)
		if err != nil {
			return unmade(err)
		}
		a.headers = append(a.headers, trace.Header{Name: h.Name, Value: value})
	}
	if op != "" {
		s.answered[op] = a
	}
	return a
}

// unmade is the answer where a placeholder does not fit: the key of the call is the only one that is not the sink's own.
func unmade(err error) reply {
	return reply{status: http.StatusBadRequest, body: []byte(err.Error())}
}

// requestOf is a request as it was read. Go's server keeps neither the order of headers nor the spelling of their names.
func requestOf(r *http.Request, body []byte) trace.Request {
	out := trace.Request{Method: r.Method, URL: r.URL.RequestURI(), Body: whole(body)}
	out.Headers = append(out.Headers, trace.Header{Name: "Host", Value: r.Host})
	for _, name := range sortedNames(r.Header) {
		for _, value := range r.Header[name] {
			out.Headers = append(out.Headers, trace.Header{Name: name, Value: value})
		}
	}
	return out
}

// drawn are the placeholders of an answer.
type drawn struct{ key, uuid, now string }

// Lookup implements plan.Values.
func (d drawn) Lookup(name string, _ int) string {
	switch name {
	case "key":
		return d.key
	case "now", "send.now":
		return d.now
	}
	return d.uuid
}

// newUUID is a version 4 UUID (RFC 9562 section 5.4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
