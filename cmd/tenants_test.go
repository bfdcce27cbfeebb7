package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"retrysafe/internal/trace"
)

// tenants is an API with paths for tenants: a caller who asks in another one's path is refused. With leak keys are kept for all tenants
// together.
type tenants struct {
	leak bool

	mu      sync.Mutex
	answers map[string]string
	orders  map[string][]string // references, by tenant
	removed []string
	refused int
}

func (s *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	tenant, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if who != "token-of-"+tenant || r.Header.Get("X-Tenant") != tenant {
		s.refused++
		w.WriteHeader(http.StatusForbidden)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		n := 0
		for _, reference := range s.orders[tenant] {
			if reference == r.URL.Query().Get("reference") {
				n++
			}
		}
		fmt.Fprintf(w, `{"count": %d}`, n)
	case r.Method == http.MethodDelete:
		s.removed = append(s.removed, tenant+"/"+rest)
	default:
		var body struct{ Tenant, Reference string }
		text, _ := io.ReadAll(r.Body)
		if json.Unmarshal(text, &body) != nil || body.Tenant != tenant {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		key := r.Header.Get("Idempotency-Key")
		if !s.leak {
			key = tenant + "/" + key
		}
		w.WriteHeader(http.StatusCreated)
		if s.answers[key] == "" {
			s.orders[tenant] = append(s.orders[tenant], body.Reference)
			s.answers[key] = fmt.Sprintf(`{"id": "%s-%d", "reference": %q}`, tenant, len(s.orders[tenant]), body.Reference)
		}
		fmt.Fprint(w, s.answers[key])
	}
}

const tenantPlan = `
version: 1
target: ${TARGET}
callers:
  alice: {vars: {tenant: t1}, headers: {Authorization: "Bearer token-of-{{tenant}}", X-Tenant: "{{tenant}}"}}
  bob: {vars: {tenant: t2}, headers: {Authorization: "Bearer token-of-{{tenant}}", X-Tenant: "{{tenant}}"}}
counters:
  orders: {http: "GET /{{tenant}}/orders?reference={{marker}}", value: $.count}
endpoints:
  - name: create order
    request: POST /{{tenant}}/orders
    key: {header: Idempotency-Key}
    body: {tenant: "{{tenant}}", reference: "{{marker}}"}
    counters: [orders]
    cleanup: {request: "DELETE /{{tenant}}/orders/{{id}}", capture: {id: $.id}}
`

// TestTenants: each caller's requests, counters and clean-up stay in his own tenant, and what leaks between two is found.
func TestTenants(t *testing.T) {
	t.Parallel()
	for _, leak := range []bool{false, true} {
		api := &tenants{leak: leak, answers: map[string]string{}, orders: map[string][]string{}}
		server := httptest.NewServer(api)
		defer server.Close()
		r := judgedAt(context.Background(), t, server.URL, tenantPlan, runOptions{scenarios: []string{"first-request", "same-key-again", "other-caller", "anonymous-caller"}})
		verdicts := map[string]trace.Verdict{}
		for _, c := range r.Endpoints[0].Cases {
			verdicts[c.Scenario] = c.Verdict
		}
		if verdicts["first-request"] != trace.Pass || verdicts["same-key-again"] != trace.Pass || (verdicts["other-caller"] == trace.Fail) != leak || !leak && verdicts["other-caller"] != trace.Pass {
			t.Errorf("leak %t: %v", leak, verdicts)
		}
		api.mu.Lock()
		if len(api.orders["t1"]) == 0 || !leak && len(api.orders["t2"]) == 0 {
			t.Errorf("leak %t: orders of %d and %d", leak, len(api.orders["t1"]), len(api.orders["t2"]))
		}
		for _, tenant := range []string{"t1", "t2"} {
			made := len(api.orders[tenant])
			gone := len(slices.DeleteFunc(slices.Clone(api.removed), func(p string) bool { return !strings.HasPrefix(p, tenant+"/") }))
			if !leak && made != gone {
				t.Errorf("%s: %d made, %d removed", tenant, made, gone)
			}
		}
		if api.refused > 3 { // the anonymous caller's
			t.Errorf("leak %t: %d requests in a path of another tenant", leak, api.refused)
		}
		api.mu.Unlock()
	}
}
