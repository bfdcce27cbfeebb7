package cmd

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"retrysafe/report"
)

// odd are characters that one encoding or another has to spell in its own way.
const odd = `/+<&>"é=?~`

// canaries are texts that nobody can guess, one for each place in which a secret can stand.
type canaries struct {
	mu     sync.Mutex
	byName map[string]string
}

func (c *canaries) of(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = map[string]string{}
	}
	if c.byName[name] == "" {
		c.byName[name] = "canary" + rand.Text()[:12]
	}
	return c.byName[name]
}

// with is one that holds characters which URLs, JSON, HTML or base64 have to encode.
func (c *canaries) with(characters, name string) string {
	canary := c.of(name) + characters + rand.Text()[:6]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName[name] = canary
	return canary
}

// shown are the forms in which a text could give a secret away, by what they are called.
func shown(secret string) map[string]string {
	asJSON, _ := json.Marshal(secret)
	return map[string]string{
		"as it is":            secret,
		"its beginning":       secret[:min(12, len(secret))],
		"in a query":          url.QueryEscape(secret),
		"in a path":           url.PathEscape(secret),
		"in a JSON text":      strings.Trim(string(asJSON), `"`),
		"in unpadded base64":  strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="),
		"in base64 of a URL":  base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"in HTML":             strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(secret),
		"in base64, 1 behind": within(secret, 1),
		"in base64, 2 behind": within(secret, 2),
	}
}

// within is what is the same in base64 of every text that holds a secret behind n bytes (or 3 more).
func within(secret string, n int) string {
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", n) + secret))
	if len(text) < 14 {
		return "" // too short to be told from another text
	}
	return text[4 : len(text)-4]
}

// leakyService does everything twice and tells everything that it was told: in headers, bodies and encodings.
type leakyService struct {
	canaries *canaries
	provider string
	refuse   bool // log-ins

	mu     sync.Mutex
	orders map[string]int
	posts  int
}

func (s *leakyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dump, _ := httputil.DumpRequest(r, true)
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.posts++
	n := s.posts
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/login" && s.refuse:
		http.Error(w, "wrong: "+string(dump), http.StatusInternalServerError)
	case r.URL.Path == "/login":
		created(w, fmt.Sprintf(`{"token": %q}`, s.canaries.of(fmt.Sprintf("token %d of a log-in", n))))
	case r.URL.Path == "/count":
		s.mu.Lock()
		defer s.mu.Unlock()
		answer, _ := json.Marshal(map[string]any{"count": s.orders[r.URL.Query().Get("reference")], "dump": string(dump)})
		created(w, string(answer))
	default:
		s.order(w, r, n, dump, body)
	}
}

func (s *leakyService) order(w http.ResponseWriter, r *http.Request, n int, dump, body []byte) {
	var o struct{ Reference, Secret string }
	_ = json.Unmarshal(body, &o)
	s.mu.Lock()
	s.orders[o.Reference]++
	s.mu.Unlock()
	s.charge(o.Reference)
	auth, secret := r.Header.Get("Authorization"), r.URL.Query().Get("secret")
	_, credential, _ := strings.Cut(auth, " ")
	cookie := s.canaries.of(fmt.Sprintf("cookie %d", n))
	http.SetCookie(w, &http.Cookie{Name: "session", Value: cookie, Path: "/", HttpOnly: true})
	w.Header().Set("X-Echo", auth)
	w.Header().Set("X-Auth-Token", s.canaries.of(fmt.Sprintf("header %d", n)))
	w.Header().Set("Location", fmt.Sprintf("/orders/%d?secret=%s", n, url.QueryEscape(secret)))
	answer, _ := json.Marshal(map[string]any{
		"id": n, "auth": auth, "dump": string(dump), "cookie": cookie, "secrets": []string{o.Secret, secret},
		"event":  fmt.Sprintf(`{"api_key": %q}`, s.canaries.of(fmt.Sprintf("member of JSON in a text %d", n))),
		"upload": "https://s3.example.com/a?part=1&X-Amz-Signature=" + s.canaries.of(fmt.Sprintf("signature of a link %d", n)),
		"handle": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ." + s.canaries.of(fmt.Sprintf("signature of a web token %d", n)),
		"encoded": []string{url.QueryEscape(credential), url.PathEscape(secret), strings.ToLower(url.QueryEscape(o.Secret)),
			base64.StdEncoding.EncodeToString([]byte(o.Secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString(dump), base64.URLEncoding.EncodeToString([]byte("-" + secret)),
			base64.StdEncoding.EncodeToString([]byte("--" + secret + "--"))},
	})
	created(w, string(answer))
}

// charge calls the service that a sink stands for, with credentials that nobody told the tool.
func (s *leakyService) charge(reference string) {
	own := s.canaries.of("bearer of the service")
	call, _ := http.NewRequest("POST", s.provider+"/charges?key="+own, strings.NewReader(fmt.Sprintf(`{"reference": %q, "own": %q}`, reference, own)))
	call.Header.Set("Authorization", "Bearer "+own)
	call.Header.Set("X-Api-Key", s.canaries.of("API key of the service"))
	call.Header.Set("Cookie", "a="+s.canaries.of("cookie of the service"))
	call.Header.Set("X-Goog-Api-Key", s.canaries.of("another API key of the service"))
	call.Header.Set("Private-Token", s.canaries.of("private token of the service"))
	if answer, err := http.DefaultClient.Do(call); err == nil {
		_ = answer.Body.Close()
	}
}

const canaryPlan = `version: 1
target: ${TARGET}
secrets: ["${SHORT}"]
callers:
  alice:
    login: {request: POST /login, body: {user: alice, password: "${PASSWORD}"}, capture: {token: $.token}}
    headers: {Authorization: "Bearer {{token}}", X-App: "LITERAL"}
  bob: {headers: {Authorization: "Basic BASIC"}}
sinks: {charges: {http: "PROVIDER"}}
limits: {request: 5s, count: 300ms, in_progress: 1s}
counters:
  orders: {http: "GET /count?reference={{marker}}&secret=${QUERY}", value: $.count, headers: {Cookie: "c=COUNTER"}}
  rows: {sql: {dsn: "DSN", query: "select count(*) from orders where reference = {{marker}}"}}
  command: {exec: [sh, -c, "echo $0 >&2; exit 1", "${ARGUMENT}", "{{marker}}"]}
states: {row: {sql: {dsn: "DSN", query: "select 1 as one where {{marker}} = '${ARGUMENT}'"}}}
defaults: {key: {header: Idempotency-Key}}
endpoints:
  - name: create order
    request: POST /orders?secret=${QUERY}&api_key=PARAMETER
    headers: {X-Short: "${SHORT}"}
    body: {qty: 1, reference: "{{marker}}", secret: "${BODY}", client_secret: MEMBER}
    other_body: {qty: 2}
    counters: {orders: 1, charges: 1}
    key_lifetime: 24h
  - {name: count rows, request: "POST /rows?secret=${QUERY}", body: {reference: "{{marker}}"}, counters: [rows]}
  - {name: ask a command, request: POST /rows, body: {reference: "{{marker}}"}, counters: [command]}
  - {name: read rows, request: POST /rows, body: {reference: "{{marker}}", secret: "${BODY}"}, counters: [orders], states: [row]}
`

// TestNoSecretIsShown: a service tells everything that it was told, in whatever encoding, and no file that a run writes holds a
// secret, whatever the report, nor does anything that it prints.
func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]bool{"served": false, "log-ins refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &canaries{}
			dir, told := runWithCanaries(t, c, refuse)
			text := readTree(t, dir)
			text["what was printed"] = told
			validResults(t, []byte(text["json"]))
			planted := 0
			for place, secret := range c.byName {
				planted++
				for form, s := range shown(secret) {
					for file, content := range text {
						if i := strings.Index(content, s); i >= 0 && s != "" {
							t.Errorf("%s: %s, %s: ...%s", file, place, form, content[max(0, i-100):min(len(content), i+len(s)+60)])
						}
					}
				}
			}
			if planted < 8 || len(text) < 10 || !strings.Contains(text["json"], "[secret-") {
				t.Errorf("%d canaries in %d texts: too few to mean anything", planted, len(text))
			}
		})
	}
}

// runWithCanaries gives the folder of what was written and all that was printed.
func runWithCanaries(t *testing.T, c *canaries, refuse bool) (dir, told string) {
	addr, err := (&ports{}).free()
	if err != nil {
		t.Fatal(err)
	}
	service := &leakyService{canaries: c, provider: "http://" + addr, refuse: refuse, orders: map[string]int{}}
	s := httptest.NewServer(service)
	t.Cleanup(s.Close)
	const short = "~9Z%" // as short as a plan may list one
	env := map[string]string{
		"TARGET": s.URL, "PASSWORD": c.with(odd, "password of a log-in"), "QUERY": c.with(`/+<>"é~`, "query"), "BODY": c.with(odd, "body"),
		"ARGUMENT": c.of("argument of a command"), "SHORT": short,
		"GITHUB_ACTIONS": "true", "NO_COLOR": "1",
	}
	basic := base64.StdEncoding.EncodeToString([]byte("bob:" + c.with(odd, "basic password")))
	c.mu.Lock()
	c.byName["basic"], c.byName["short"] = basic, short
	c.mu.Unlock()
	closed, err := (&ports{}).free()
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.NewReplacer("LITERAL", c.of("literal header"), "BASIC", basic, "PARAMETER", c.of("literal parameter"), "MEMBER", c.of("literal member"), "PROVIDER", addr, "COUNTER", c.of("cookie of a counter"),
		"DSN", "postgres://ann:"+c.of("password of a database")+"@"+closed+"/shop?sslmode=disable&connect_timeout=1").Replace(canaryPlan)
	file := filepath.Join(t.TempDir(), "retrysafe.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	env["GITHUB_STEP_SUMMARY"] = filepath.Join(dir, "summary.md")
	args := []string{"run", file, "--effort", "smoke", "--verbose", "--ledger", filepath.Join(dir, "ledger"), "--label", "by=" + env["BODY"],
		"--report", "json=" + filepath.Join(dir, "json"),
		"--scenario", "first-request,same-key-again,same-key-concurrent,same-key-different-body,other-caller,anonymous-caller,renewed-token,replayed-days-later"}
	for _, f := range report.Formats() {
		args = append(args, "--report", f.Name+"="+filepath.Join(dir, f.Name))
	}
	var out bytes.Buffer
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for want, args := range map[int][]string{ExitViolations: args, ExitOK: {"run", file, "--dry-run"}, -1: {"validate", file}} {
		if refuse && want == ExitViolations {
			want = ExitInconclusive
		}
		code := Main(Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, LookupEnv: lookup, Version: "test"}, args)
		if code != want && want >= 0 {
			t.Errorf("%s: exit code %d, want %d\n%s", args[0], code, want, out.String())
		}
	}
	return dir, out.String()
}

// readTree is what stands in the files of a folder, by name.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text[f.Name()] = string(content)
	}
	return text
}
