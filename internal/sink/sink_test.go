package sink

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

func TestMain(m *testing.M) {
	// Go's server sleeps half a second behind an answer to a request that it did not read to its end.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// sinks are sinks with their addresses, by name.
type sinks struct {
	*Set
	address map[string]string
}

// sinksOf gives the sinks that lines of a plan declare, at free ports.
func sinksOf(t *testing.T, lines ...string) sinks {
	t.Helper()
	text := "version: 1\nsinks:\n"
	for _, l := range lines {
		text += "  " + strings.ReplaceAll(l, "FREE", free(t)) + "\n"
	}
	p, err := plan.Parse("p", []byte(text+"endpoints: [{name: a, request: POST http://127.0.0.1/}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Listen(p.Sinks(), clock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	out := sinks{set, map[string]string{}}
	for _, s := range p.Sinks() {
		out.address[s.Name] = s.Address()
	}
	return out
}

func clock() func() trace.Nanos {
	start := time.Now()
	return func() trace.Nanos { return trace.Nanos(max(1, time.Since(start))) }
}

func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// call sends a call to the sink "pay" and gives status and body; 0 without an answer.
func (s sinks) call(t *testing.T, path, key, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", "http://"+s.address["pay"]+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	r.Close = true
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(a.Body)
	return a.StatusCode, string(text)
}

func read(t *testing.T, l *Log, text string) []trace.Arrival {
	t.Helper()
	as, err := l.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return as
}

func TestCallsAreServedOncePerKey(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE", answer: {status: 201, headers: {X-Key: "{{key}}"}, body: {id: "ch_{{uuid}}"}}}`)
	status, first := set.call(t, "/charges", "k1", `{"ref":"rsaaaa"}`)
	_, again := set.call(t, "/charges", "k1", `{"ref":"rsaaaa"}`)
	_, other := set.call(t, "/charges", "k2", `{"ref":"rsaaaa"}`)
	_, place := set.call(t, "/refunds", "k1", `{"ref":"rsbbbb"}`)
	_, _ = set.call(t, "/charges", "", `{"ref":"rsaaaa"}`)
	if status != 201 || !strings.HasPrefix(first, `{"id":"ch_`) || first != again || first == other || first == place {
		t.Errorf("%d %s, again %s, another key %s, another path %s", status, first, again, other, place)
	}
	as := read(t, set.Log("pay"), "RSaaaa")
	if len(as) != 4 || trace.Effects(as) != 3 || trace.Operations(as) != 3 || !as[1].Call.Again || as[0].ID >= as[3].ID {
		t.Errorf("%d arrivals with %d effects: %+v", len(as), trace.Effects(as), as)
	}
	if n := len(read(t, set.Log("pay"), "rsbbbb")); n != 1 {
		t.Errorf("%d arrivals for the other marker", n)
	}
}

func TestKeyLifetime(t *testing.T) {
	now := trace.Nanos(1)
	l := newLog("pay", nil, func() trace.Nanos { return now }, &atomic.Int64{})
	s := newService(l, "Idempotency-Key", time.Second, plan.SinkAnswer{Status: 200})
	for _, c := range []struct {
		at    time.Duration
		again bool
	}{{1, false}, {time.Second / 2, true}, {time.Second, true}, {time.Second + 2, false}, {time.Second + 3, true}} {
		now = trace.Nanos(c.at)
		a := &trace.Arrival{At: now, Call: &trace.Call{Key: "k"}}
		if s.reply(a); a.Call.Again != c.again {
			t.Errorf("at %v: again is %v", c.at, a.Call.Again)
		}
	}
}

func TestFailures(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE", first: drop}`)
	l := set.Log("pay")
	read(t, l, "rsaaaa") // from here on it is looked for
	statuses := func(ref string, n int) (out []int) {
		for range n {
			s, _ := set.call(t, "/charges?ref="+ref, "k", "")
			out = append(out, s)
		}
		return out
	}
	if got := fmt.Sprint(statuses("rsaaaa", 3)); got != "[0 200 200]" {
		t.Errorf("first dropped: %s", got)
	}
	if got := fmt.Sprint(statuses("rsxxxx", 1)); got != "[200]" {
		t.Errorf("nobody looks for it: %s", got)
	}
	undo := l.Fail("rsaaaa", plan.Failure{Status: 429, RetryAfter: 1500 * time.Millisecond})
	if got := fmt.Sprint(statuses("rsaaaa", 2)); got != "[429 200]" {
		t.Errorf("one to fail: %s", got)
	}
	undo()
	l.Fail("rsaaaa", plan.Failure{})()
	if got := fmt.Sprint(statuses("rsaaaa", 1)); got != "[200]" {
		t.Errorf("taken back: %s", got)
	}
	as := read(t, l, "rsaaaa")
	if as[0].Call.Failed != trace.FailedDrop || as[0].Call.Status != 0 || as[3].Call.Status != 429 || as[3].Call.RetryAfter.Duration() != 1500*time.Millisecond {
		t.Errorf("%+v, %+v", as[0].Call, as[3].Call)
	}
	if trace.Effects(as) != 1 {
		t.Errorf("%d effects, want 1: one key", trace.Effects(as))
	}
}

func TestTimeoutEndsWhenTheClientLeaves(t *testing.T) {
	s, err := Serve(ServiceOptions{Address: "127.0.0.1:0", Key: "Idempotency-Key", Answer: plan.SinkAnswer{Status: 200}, Clock: clock(),
		Fail: func(trace.Arrival) *plan.Failure { return &plan.Failure{Hang: true} }})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 50 * time.Millisecond}
	if a, err := client.Post(s.URL, "text/plain", nil); err == nil {
		t.Errorf("answered %s", a.Status)
	}
	as, _, _ := s.All()
	if len(as) != 1 || as[0].Call.Failed != trace.FailedTimeout {
		t.Errorf("%+v", as)
	}
	s.Close()
	client.CloseIdleConnections()
}

func TestWhereATextIsFound(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE"}`, `mails: {smtp: "FREE"}`)
	read(t, set.Log("pay"), "nothing")
	if _, body := set.call(t, "/x", "k", `{"ref":"\u0072saaaa"}`); body != "" {
		t.Errorf("body %q, want none where the plan says none", body)
	}
	set.call(t, "/x?to=rsbbbb%40example.com", "k", "")
	set.call(t, "/x", "rscccc", "")
	set.call(t, "/x", "k", "a=1&to=rsdddd%40example.com")
	for _, text := range []string{"rsaaaa", "rsbbbb@example.com", "rscccc", "rsdddd@example.com"} {
		if n := len(read(t, set.Log("pay"), text)); n != 1 {
			t.Errorf("%s in %d calls", text, n)
		}
	}
	for text, message := range map[string]string{
		"rs1111": "Subject: order rs1111\r\n\r\nhello",
		"rs2222": "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_rs=32222?=\r\n\r\nhello",
		"rs3333": "Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nyour order rs3=\r\n333 =3D done",
		"rs4444": "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nb3JkZXIgcnM0\r\nNDQ0Cg==",
		"rs5555": "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n" +
			"--c\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n" + "PGI+cnM1NTU1PC9iPg==\r\n--c--\r\n--b--\r\n",
		"rs6666": "no mail at all, rs6666",
		"rs7777": "Content-Type: message/rfc822\r\n\r\nSubject: rs7777\r\n\r\nforwarded",
	} {
		if err := smtp.SendMail(set.address["mails"], nil, "shop@example.com", []string{"a@example.com"}, []byte(message)); err != nil {
			t.Fatal(err)
		}
		as := read(t, set.Log("mails"), text)
		if len(as) != 1 || as[0].Mail.To[0] != "a@example.com" || as[0].Mail.Size == 0 {
			t.Errorf("%s: %+v", text, as)
		}
	}
	auth := smtp.PlainAuth("", "any", "any", "127.0.0.1")
	if err := smtp.SendMail(set.address["mails"], auth, "rs8888@example.com", []string{"rs9999@example.com"}, []byte("x: y\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if len(read(t, set.Log("mails"), "rs8888")) != 1 || len(read(t, set.Log("mails"), "rs9999")) != 1 {
		t.Error("the envelope was not looked at")
	}
	if as := read(t, set.Log("mails"), "rs2222"); as[0].Mail.Subject != "Grüße rs2222" || as[0].Mail.Text != "hello" {
		t.Errorf("%+v", as[0].Mail)
	}
}

// TestBounds shows that what is too much is refused and said, instead of miscounted.
func TestBounds(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE"}`)
	if status, _ := set.call(t, "/x", "k", strings.Repeat("a", mostCallBody+1)); status != 413 {
		t.Errorf("a call that is too large: %d", status)
	}
	if _, err := set.Log("pay").Read("rsaaaa"); err == nil || !strings.Contains(err.Error(), "sink pay: the body of a call, POST /x, is larger than 1048576 bytes") {
		t.Errorf("error %v", err)
	}
	mails := newLog("mails", nil, clock(), &atomic.Int64{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer serveMail(listener, mails, 2000)()
	for size, taken := range map[int]bool{1000: true, 3000: false, 100_000: false} {
		mail := []byte("Subject: x\r\n\r\n" + strings.Repeat(strings.Repeat("a", 98)+"\r\n", size/100))
		err := smtp.SendMail(listener.Addr().String(), nil, "a@example.com", []string{"b@example.com"}, mail)
		if (err == nil) != taken || err != nil && !strings.HasPrefix(err.Error(), "552 ") {
			t.Errorf("a mail of %d bytes: %v", size, err)
		}
	}
	if _, err := mails.Read("rsaaaa"); err == nil || !strings.Contains(err.Error(), "a mail is larger than 2000 bytes") || len(mails.arrivals) != 1 {
		t.Errorf("error %v", err)
	}
	l := newLog("full", nil, clock(), &atomic.Int64{})
	text := strings.Repeat("a", 1<<20)
	for range mostKept>>20 + 1 {
		err = l.add(trace.Arrival{}, text, nil)
	}
	if err == nil || len(l.arrivals) != mostKept>>20 {
		t.Errorf("%d arrivals kept, error %v", len(l.arrivals), err)
	}
	if _, err := l.Read("b"); err == nil {
		t.Error("a full sink does not say so")
	}
}

// TestManyAtOnce counts right while many write and look.
func TestManyAtOnce(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE", first: {status: 503}}`, `mails: {smtp: "FREE"}`)
	for i := range 5 {
		read(t, set.Log("pay"), fmt.Sprintf("rs%d-", i))
	}
	var g sync.WaitGroup
	for i := range 40 {
		g.Go(func() { set.call(t, fmt.Sprintf("/x?ref=rs%d-", i%5), "k", "") })
		g.Go(func() {
			_ = smtp.SendMail(set.address["mails"], nil, "a@example.com", []string{"b@example.com"}, fmt.Appendf(nil, "Subject: rs%d-\r\n\r\n", i%5))
		})
		g.Go(func() { _, _ = set.Log("mails").Read(fmt.Sprintf("rs%d-", i%5)) })
	}
	g.Wait()
	for i := range 5 {
		calls, mails := read(t, set.Log("pay"), fmt.Sprintf("rs%d-", i)), read(t, set.Log("mails"), fmt.Sprintf("rs%d-", i))
		failed := 0
		for _, a := range calls {
			if a.Call.Failed != "" {
				failed++
			}
		}
		if len(calls) != 8 || len(mails) != 8 || failed != 1 {
			t.Errorf("rs%d: %d calls, %d failed, %d mails", i, len(calls), failed, len(mails))
		}
	}
}

// TestHostileSenders go on until they are cut off, and do not keep the others from being served.
func TestHostileSenders(t *testing.T) {
	set := sinksOf(t, `pay: {http: "FREE"}`, `mails: {smtp: "FREE"}`)
	for _, text := range []string{"", "\x00\xff\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
		"GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 50_000) + "\r\n", "DATA\r\n.\r\n", "MAIL FROM:<>\r\nRCPT TO:<>\r\nDATA\r\n.\r\n", "EHLO x\r\nBDAT -1\r\n", strings.Repeat("x", 200_000)} {
		for _, name := range []string{"pay", "mails"} {
			c, err := net.Dial("tcp", set.address[name])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}
	if status, _ := set.call(t, "/x", "k", "rsaaaa"); status != 200 || len(read(t, set.Log("pay"), "rsaaaa")) != 1 {
		t.Errorf("status %d afterwards", status)
	}
	if err := smtp.SendMail(set.address["mails"], nil, "a@example.com", []string{"b@example.com"}, []byte("Subject: rsaaaa\r\n\r\n")); err != nil || len(read(t, set.Log("mails"), "rsaaaa")) != 1 {
		t.Errorf("afterwards: %v", err)
	}
}

func TestListenNamesTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen([]*plan.Sink{{Name: "mails", SMTP: l.Addr().String()}}, clock())
	if err == nil || !strings.Contains(err.Error(), "cannot listen for the sink mails") {
		t.Errorf("error %v", err)
	}
	var none *Set
	none.Close()
	if none.Log("mails") != nil {
		t.Error("no set has a log")
	}
}

func FuzzMail(f *testing.F) {
	f.Add([]byte("Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--"))
	f.Add([]byte("Content-Type: message/rfc822\r\n\r\nContent-Type: message/rfc822\r\n\r\n"))
	f.Add([]byte("Content-Transfer-Encoding: base64\r\n\r\n===="))
	f.Fuzz(func(t *testing.T, message []byte) {
		m := trace.Mail{From: string(message), To: make([]string, mostRecipients)}
		if texts := mailTexts(message, &m); len(texts) > 4*mostText || len([]rune(m.Text)) > shownText+3 || len(m.To) > shownTo {
			t.Errorf("%d bytes of texts, mail %+v", len(texts), m)
		}
	})
}
