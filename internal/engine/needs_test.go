package engine

import (
	"strings"
	"testing"

	"retrysafe/internal/plan"
)

// TestCallersToAdd: what is proposed to a plan, put beside the callers that it has, is what the scenario needs.
func TestCallersToAdd(t *testing.T) {
	for _, c := range []struct{ reason, has, need, lacks, enable string }{
		{"nobody, one needed", "", "credentials", "the plan has no caller, so everybody is anonymous", `callers: {alice: {headers: {Authorization: "Bearer ${ALICE_TOKEN}"}}}`},
		{"nobody, two needed", "", "other_caller", "the plan has no callers, and two are needed",
			`callers: {alice: {headers: {Authorization: "Bearer ${ALICE_TOKEN}"}}, bob: {headers: {Authorization: "Bearer ${BOB_TOKEN}"}}}`},
		{"one", "alice", "other_caller", "the plan has no second caller beside alice", `callers: {bob: {headers: {Authorization: "Bearer ${BOB_TOKEN}"}}}`},
		{"one of the name that would be proposed", "bob", "other_caller", "the plan has no second caller beside bob", `callers: {alice: {headers: {Authorization: "Bearer ${ALICE_TOKEN}"}}}`},
		{"a log-in of the one who is there", "shop", "renewable_caller", "the first caller's credentials cannot be obtained anew",
			`callers: {shop: {login: {request: POST /login, body: {user: shop}, capture: {token: $.token}}, headers: {Authorization: "Bearer {{token}}"}}}`},
	} {
		head := "version: 1\ntarget: http://127.0.0.1:1\nendpoints: [{name: a, request: POST /a}]\n"
		if c.has != "" {
			head += "callers:\n  " + c.has + ": {headers: {X-Who: me}}\n"
		}
		p, err := plan.Parse("p", []byte(head), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := needOf(c.need, p, &p.Endpoints[0])
		if n.met(p, &p.Endpoints[0]) || n.lacks != c.lacks || n.enable != c.enable {
			t.Errorf("%s: got %q and %q", c.reason, n.lacks, n.enable)
		}
		if c.need == "renewable_caller" {
			continue // stands in place of the caller's own headers
		}
		added := strings.TrimSuffix(strings.TrimPrefix(n.enable, "callers: {"), "}}}")
		if c.has == "" {
			head += "callers: {" + added + "}}}\n"
		} else {
			head = strings.Replace(head, "callers:\n", "callers:\n  "+added+"}}\n", 1)
		}
		if p, err = plan.Parse("p", []byte(head), func(string) (string, bool) { return "secret", true }); err != nil || !n.met(p, &p.Endpoints[0]) {
			t.Errorf("%s: not met with it: %v", c.reason, err)
		}
	}
}
