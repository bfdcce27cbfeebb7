package webhook

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

const encodedSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func secretOf(s Scheme) string {
	if s.encodedSecret {
		return encodedSecret
	}
	return "hush"
}

func find(t *testing.T, name string) Scheme {
	t.Helper()
	s, ok := Find(name)
	if !ok {
		t.Fatalf("no scheme %s", name)
	}
	return s
}

// get reads headers as a server does: names do not depend on case.
func get(headers []trace.Header) func(string) string {
	return func(name string) string {
		for _, h := range headers {
			if strings.EqualFold(h.Name, name) {
				return h.Value
			}
		}
		return ""
	}
}

// The examples that the senders publish must come out byte by byte; those of stripe and shopify were calculated with
// another implementation of HMAC.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		source, scheme, secret, id, body string
		at                               int64
		want                             []trace.Header
	}{
		{"docs.github.com on validating deliveries", "github", "It's a Secret to Everybody", "72d3162e", "Hello, World!", 0, []trace.Header{
			{Name: "X-GitHub-Delivery", Value: "72d3162e"},
			{Name: "X-Hub-Signature-256", Value: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}}},
		{"specification of Standard Webhooks", "standard-webhooks", encodedSecret, "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`, 1614265330,
			[]trace.Header{
				{Name: "webhook-id", Value: "msg_p5jXN8AQM9LWM0D4loKWxJek"},
				{Name: "webhook-timestamp", Value: "1614265330"},
				{Name: "webhook-signature", Value: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}}},
		{"the same under older names", "svix", encodedSecret, "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`, 1614265330, []trace.Header{
			{Name: "svix-id", Value: "msg_p5jXN8AQM9LWM0D4loKWxJek"},
			{Name: "svix-timestamp", Value: "1614265330"},
			{Name: "svix-signature", Value: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}}},
		{"docs.slack.dev on verifying requests", "slack", "8f742231b10e8888abcd99yyyzzz85a5", "", "token=xyzz0WbapA4vBCDEFasx0q6G&" +
			"team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&" +
			"user_name=roadrunner&command=%2Fwebhook-collect&text=&" +
			"response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
			"trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c", 1531420618, []trace.Header{
			{Name: "X-Slack-Request-Timestamp", Value: "1531420618"},
			{Name: "X-Slack-Signature", Value: "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"}}},
		{"calculated", "stripe", "whsec_test", "", `{"id":"evt_1"}`, 1614265330, []trace.Header{
			{Name: "Stripe-Signature", Value: "t=1614265330,v1=347e9afe3d74ec4c5cbefd270edc9246513ae3da7b375223e302560fbd4146eb"}}},
		{"calculated", "shopify", "hush", "e-1", `{"id":1}`, 0, []trace.Header{
			{Name: "X-Shopify-Event-Id", Value: "e-1"},
			{Name: "X-Shopify-Webhook-Id", Value: "e-1"},
			{Name: "X-Shopify-Hmac-Sha256", Value: "VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY="}}},
	} {
		s := find(t, c.scheme)
		got, err := s.Sign(c.secret, Delivery{ID: c.id, At: time.Unix(c.at, 0), Body: []byte(c.body)})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: got %v, %v, want %v", c.scheme, c.source, got, err, c.want)
		}
		if err := s.Verify(c.secret, get(got), []byte(c.body), time.Unix(c.at, 0)); err != nil {
			t.Errorf("%s, %s: %v", c.scheme, c.source, err)
		}
	}
}

func TestRedelivery(t *testing.T) {
	first := Delivery{ID: "e-1", At: time.Unix(1700000000, 0), Body: []byte(`{"id":"e-1"}`)}
	again := first
	again.At, again.Attempt, again.Reason = first.At.Add(time.Minute), 3, "http_timeout"
	for _, name := range Names() {
		s := find(t, name)
		a, err := s.Sign(secretOf(s), first)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Sign(secretOf(s), again)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range s.IDHeaders {
			if get(a)(id) != "e-1" || get(b)(id) != "e-1" {
				t.Errorf("%s: %s changes with the attempt: %v, %v", name, id, a, b)
			}
		}
		if dated := s.Tolerance != 0; dated == (get(a)(s.SignatureHeader) == get(b)(s.SignatureHeader)) {
			t.Errorf("%s: dated %v, signatures %v, %v", name, dated, a, b)
		}
		if name == "slack" {
			want := []trace.Header{{Name: "X-Slack-Retry-Num", Value: "2"}, {Name: "X-Slack-Retry-Reason", Value: "http_timeout"}}
			if !slices.Equal(b[len(b)-2:], want) || len(a) != len(b)-2 {
				t.Errorf("slack: %v, then %v", a, b)
			}
		} else if len(a) != len(b) {
			t.Errorf("%s: %v, then %v", name, a, b)
		}
	}
}

func TestSignSaysWhatItNeeds(t *testing.T) {
	at := time.Unix(1700000000, 0)
	const noBase64 = "expected a secret of svix, whsec_ followed by base64 with padding, found something else after whsec_"
	for _, c := range []struct {
		reason, scheme, secret string
		delivery               Delivery
		want                   string
	}{
		{"no secret", "github", "", Delivery{ID: "e"}, "expected a secret for github, found none"},
		{"no prefix", "standard-webhooks", "aHVzaA==", Delivery{ID: "e", At: at},
			"expected a secret of standard-webhooks, whsec_ followed by base64, found one without whsec_: write whsec_ before it if it is base64"},
		{"no base64", "svix", "whsec_hush!", Delivery{ID: "e", At: at}, noBase64},
		{"line end from a file", "svix", encodedSecret + "\n", Delivery{ID: "e", At: at}, noBase64},
		{"nothing after the prefix", "svix", "whsec_", Delivery{ID: "e", At: at}, noBase64},
		{"the whole secret", "stripe", "whsec_hush!", Delivery{At: at}, ""},
		{"no id", "github", "hush", Delivery{}, "expected an event id for header X-GitHub-Delivery, found none"},
		{"no id needed", "slack", "hush", Delivery{At: at}, ""},
		{"id no header can carry", "shopify", "hush", Delivery{ID: "a\r\nb"}, `expected an event id of visible ASCII characters, found "a\r\nb"`},
		{"no time", "stripe", "hush", Delivery{}, "expected the time of the delivery, found 0001-01-01T00:00:00Z"},
		{"no time needed", "github", "hush", Delivery{ID: "e"}, ""},
		{"reason no header can carry", "slack", "hush", Delivery{At: at, Attempt: 2, Reason: "a b"}, `expected a reason of visible ASCII characters, found "a b"`},
	} {
		_, err := find(t, c.scheme).Sign(c.secret, c.delivery)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	at := time.Unix(1700000000, 0)
	body := []byte(`{"id":"e-1"}`)
	for _, name := range Names() {
		s := find(t, name)
		secret := secretOf(s)
		headers, err := s.Sign(secret, Delivery{ID: "e-1", At: at, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		verify := func(secret string, headers []trace.Header, body []byte, now time.Time) error {
			return s.Verify(secret, get(headers), body, now)
		}
		for _, now := range []time.Time{at, at.Add(s.Tolerance), at.Add(-s.Tolerance)} {
			if err := verify(secret, headers, body, now); err != nil {
				t.Errorf("%s, %v later: %v", name, now.Sub(at), err)
			}
		}
		for _, late := range []time.Duration{s.Tolerance + time.Second, -s.Tolerance - time.Second} {
			if err := verify(secret, headers, body, at.Add(late)); (err != nil) != (s.Tolerance != 0) {
				t.Errorf("%s, %v later: %v", name, late, err)
			}
		}
		if verify(secret, headers, append(bytes.Clone(body), ' '), at) == nil {
			t.Errorf("%s: takes a changed body", name)
		}
		if verify("whsec_aHVzaA==", headers, body, at) == nil {
			t.Errorf("%s: takes another secret", name)
		}
		for i := range headers {
			changed := slices.Clone(headers)
			changed[i].Value = changed[i].Value[:len(changed[i].Value)-2] + "01"
			part := strings.Contains(s.signed, "{id}") || !slices.Contains(s.IDHeaders, headers[i].Name)
			if err := verify(secret, changed, body, at); (err != nil) != part {
				t.Errorf("%s: %s changed to %q: %v", name, headers[i].Name, changed[i].Value, err)
			}
			if err := verify(secret, slices.Delete(slices.Clone(headers), i, i+1), body, at); (err != nil) != part {
				t.Errorf("%s without %s: %v", name, headers[i].Name, err)
			}
		}
	}
}

func TestVerifyReadsLists(t *testing.T) {
	at := time.Unix(1614265330, 0)
	const signature = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	const message = `{"test": 2432232314}`
	const digits = "347e9afe3d74ec4c5cbefd270edc9246513ae3da7b375223e302560fbd4146eb"
	for _, c := range []struct {
		reason, scheme, secret, body, value, stamp string
		ok                                         bool
	}{
		{"the second of two", "standard-webhooks", encodedSecret, message, "v1,AAAA v1," + signature, "1614265330", true},
		{"beside another version", "standard-webhooks", encodedSecret, message, "v1a,AAAA v1," + signature, "1614265330", true},
		{"another version only", "standard-webhooks", encodedSecret, message, "v2," + signature, "1614265330", false},
		{"no version", "standard-webhooks", encodedSecret, message, signature, "1614265330", false},
		{"no number", "standard-webhooks", encodedSecret, message, "v1," + signature, "now", false},
		{"beyond the largest time", "standard-webhooks", encodedSecret, message, "v1," + signature, "9223372036854775807", false},
		{"two secrets", "stripe", "whsec_test", `{"id":"evt_1"}`, "t=1614265330,v1=00,v1=" + digits + ",v0=00", "", true},
		{"in another order", "stripe", "whsec_test", `{"id":"evt_1"}`, "v1=" + digits + ",t=1614265330", "", true},
		{"without a time", "stripe", "whsec_test", `{"id":"evt_1"}`, "v1=" + digits, "", false},
		{"an old version", "stripe", "whsec_test", `{"id":"evt_1"}`, "t=1614265330,v0=" + digits, "", false},
	} {
		s := find(t, c.scheme)
		headers := []trace.Header{{Name: s.SignatureHeader, Value: c.value}, {Name: "webhook-id", Value: "msg_p5jXN8AQM9LWM0D4loKWxJek"},
			{Name: "webhook-timestamp", Value: c.stamp}}
		if err := s.Verify(c.secret, get(headers), []byte(c.body), at); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

func TestSchemes(t *testing.T) {
	if got, want := Names(), []string{"standard-webhooks", "svix", "stripe", "github", "shopify", "slack"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	if s, ok := Find("none"); ok || s.Name != "" {
		t.Errorf("found %+v", s)
	}
	for _, c := range []struct {
		name, path string
		tolerance  time.Duration
		within     time.Duration
	}{
		{"standard-webhooks", "", 5 * time.Minute, 0}, {"svix", "", 5 * time.Minute, 0}, {"stripe", "$.id", 5 * time.Minute, 0},
		{"github", "", 0, 10 * time.Second}, {"shopify", "", 0, 0}, {"slack", "$.event_id", 5 * time.Minute, 3 * time.Second},
	} {
		s := find(t, c.name)
		if s.About == "" || s.IDPath != c.path || (s.IDPath == "") == (len(s.IDHeaders) == 0) || s.Tolerance != c.tolerance || s.AnswerWithin != c.within {
			t.Errorf("%+v", s)
		}
	}
}

func FuzzVerify(f *testing.F) {
	at := time.Unix(1700000000, 0)
	for i, name := range Names() {
		s, _ := Find(name)
		headers, err := s.Sign(secretOf(s), Delivery{ID: "e-1", At: at, Body: []byte("{}")})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, get(headers)(s.SignatureHeader), "e-1", strconv.FormatInt(at.Unix(), 10), []byte("{}"))
	}
	f.Add(2, "t=,,v1=,t=1", "", "", []byte{})
	f.Fuzz(func(t *testing.T, scheme int, signature, id, stamp string, body []byte) {
		s, ok := Find(Names()[uint(scheme)%uint(len(Names()))])
		if !ok {
			t.Fatal("a name without a scheme")
		}
		header := func(name string) string {
			switch {
			case name == s.SignatureHeader:
				return signature
			case name == s.TimestampHeader:
				return stamp
			case slices.Contains(s.IDHeaders, name):
				return id
			}
			t.Fatalf("%s reads header %q, which it does not have", s.Name, name)
			return ""
		}
		if s.Verify(secretOf(s), header, body, at) != nil {
			return
		}
		if at, signatures := s.items(signature); !slices.Contains(signatures, s.mac(mustKey(t, s), id, at+stampOf(s, stamp), body)) {
			t.Errorf("%s takes %q", s.Name, signature)
		}
	})
}

func mustKey(t *testing.T, s Scheme) []byte {
	key, err := s.key(secretOf(s))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// stampOf is the time in a header of its own; where the signature's header has it there is none.
func stampOf(s Scheme, stamp string) string {
	if s.TimestampHeader == "" {
		return ""
	}
	return stamp
}
