package judge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// elsewhere stands for a scenario that no diagnosis names.
const elsewhere = "another-scenario"

// fault is a kind of fault with findings that it shows, RULE or SCENARIO:RULE, and the causes that they must be told as. The
// matrix of cmd pins the causes of every fault of the shop in whole runs.
type fault struct{ name, findings, causes string }

func faults() []fault {
	return slices.Concat(keyFaults(), scopeFaults(), failureFaults(), otherFaults())
}

// keyFaults are faults in claims, stored answers, fingerprints and the key itself.
func keyFaults() []fault {
	return []fault{
		{"claim-after-effect, with a copy during the work", "same-key-concurrent:duplicate-creation in-progress-executed", "recorded-after-work"},
		{"in-progress-ignored", "same-key-concurrent:silent-duplicate in-progress-executed", "recorded-after-work"},
		{"in-progress-ignored, without a burst that shows it", "same-key-concurrent:status-not-replayed in-progress-executed", "in-flight-not-claimed part-of-answer-stored"},
		{"lock-shorter-than-work", "in-progress-executed", "lock-shorter-than-work"},
		{"memory-per-instance", "lost-across-replicas", "memory-of-one-instance"},
		{"memory-per-instance, behind a balancer", "lost-across-replicas same-key-concurrent:duplicate-creation client-timeout:lost-after-cut", "memory-of-one-instance"},
		{"balancer-resends-memory-keys", "resent-on-the-way", "intermediary-retries"},
		{"balancer-resends-memory-keys, of little patience", "resent-on-the-way held-in-progress:in-progress-executed", "intermediary-retries"},
		{"balancer-resends-no-dedupe", "same-key-again:key-ignored resent-on-the-way", "key-not-used intermediary-retries"},
		{"size-limit-not-stored", "duplicate-creation", "record-not-kept"},
		{"memory-lost-on-restart", "lost-after-restart", "memory-lost-on-restart"},
		{"memory-lost-on-restart, several instances", "lost-after-restart lost-across-replicas", "memory-of-one-instance"},
		{"evicts-oldest", "evicted-early", "store-too-small"},
		{"double-encoded", "same-key-again:body-not-replayed same-key-concurrent:body-not-replayed", "answer-not-stored"},
		{"empty-body", "same-key-again:body-not-replayed same-key-again:headers-not-replayed", "answer-not-stored"},
		{"content-type-lost", "same-key-again:headers-not-replayed", "part-of-answer-stored"},
		{"rebuilt-with-another-key-order", "same-key-again:replay-not-byte-identical", "replay-rebuilt"},
		{"rebuilt-in-all-parts", "same-key-again:status-not-replayed same-key-again:headers-not-replayed same-key-again:replay-not-byte-identical", "replay-rebuilt"},
		{"first-kilobyte-checked", "different-body-replayed", "part-of-request-compared"},
		{"query-not-checked", "different-body-replayed", "part-of-request-compared"},
		{"raw-bytes-only", "equivalent-body-refused", "fingerprint-over-raw-bytes"},
		{"key-order-in-the-key", "equivalent-body-executed", "body-part-of-key"},
		{"trace-header-in-fingerprint", "replay-depends-on-noise", "fingerprint-over-noise"},
		{"connection-as-scope", "replay-depends-on-noise", "fingerprint-over-noise"},
		{"empty-key-shared", "empty-key-shared", "shared-fallback-key"},
		{"missing-key-falls-back", "missing-key-shared missing-key:key-not-required", "shared-fallback-key"},
		{"truncated-to-64", "keys-collide", "key-altered"},
		{"header-lines-joined", "keys-collide", "key-altered"},
		{"case-folded", "key-case-folded", "key-altered"},
		{"long-key-500", "bad-key-crashes", "key-not-validated"},
		{"refusal with another status", "missing-key:wrong-refusal-status", "refusal-status-unusual"},
	}
}

func scopeFaults() []fault {
	return []fault{
		{"key-shared-across-callers", "key-shared-across-callers", "caller-not-in-scope"},
		{"key-blocks-other-caller", "key-blocks-other-caller", "unique-index-on-key-alone"},
		{"key-scoped-to-token", "key-scoped-to-token", "token-in-scope"},
		{"key-shared-across-endpoints", "key-shared-across-endpoints", "endpoint-not-in-scope"},
		{"key alone", "key-shared-across-endpoints key-shared-across-callers", "looked-up-by-key-alone"},
	}
}

func failureFaults() []fault {
	return []fault{
		{"error-pinned", "error-pinned", "refusal-stored"},
		{"failure-pinned", "server-error-then-retry:failure-pinned", "failure-stored"},
		{"both pinned", "error-pinned server-error-then-retry:failure-pinned", "every-outcome-stored"},
		{"charge-then-crash", "server-error-then-retry:retry-repeats-partial-work", "partial-work-repeated"},
		{"charge-then-crash, counted apart", "server-error-then-retry:side-effect-repeated", "partial-work-repeated"},
		{"mail-twice", "same-key-again:side-effect-repeated same-key-concurrent:side-effect-repeated", "one-effect-unguarded"},
		{"downstream-key-fresh", "downstream-key-not-stable side-effect-repeated", "downstream-key-renewed"},
		{"stuck after all", "client-timeout:stuck-in-progress server-error-then-retry:stuck-in-progress", "claim-never-released"},
		{"stuck after a crash", "stuck-in-progress", "claim-never-released"},
		{"cut and never completed", "client-timeout:cut-not-completed", "work-ends-with-client"},
		{"half-body-accepted", "lost-after-cut", "work-ends-with-client"},
		{"empty-answer-when-client-left", "client-timeout:body-not-replayed client-resets:body-not-replayed", "answer-lost-with-client"},
		{"in-progress-alternates", "in-progress-inconsistent", "running-answered-in-two-ways"},
		{"in-progress-500", "server-error-on-retry", "repeat-meets-error"},
		{"in-progress-empty-200", "in-progress-false-success", "unfinished-answered-as-done"},
		{"waiters-never-released", "in-progress-hangs", "waits-without-end"},
	}
}

func otherFaults() []fault {
	return []fault{
		{"sliding-expiry", "delayed-expiry:never-expires", "expiry-not-enforced"},
		{"lifetime-below-retry-window", "lifetime-below-retry-window", "retry-window-outlives-key"},
		{"put-appends", "method-not-idempotent", "update-adds-to-state"},
		{"patch-increments", "method-not-idempotent", "update-adds-to-state"},
		{"second-delete-500", "retry-of-delete-fails", "delete-of-missing-fails"},
		{"double-click-duplicates", "double-click-duplicates", "double-click-unguarded"},
		{"webhook-no-dedupe", "webhook-processed-twice", "webhook-not-deduplicated"},
		{"webhook-dedupes-on-delivery", "webhook-processed-twice", "webhook-not-deduplicated"},
		{"webhook-409-duplicate", "webhook-duplicate-refused", "webhook-duplicate-is-error"},
		{"webhook-marked-before-handled", "webhook-event-lost", "webhook-marked-before-handled"},
		{"webhook-payload-hash", "webhook-event-lost", "webhook-marked-before-handled"},
		{"two effects for each key", "fresh-key-per-retry:duplicate-creation", "effect-not-guarded"},
	}
}

func TestDiagnoseFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("much work for one goroutine: run it without -short")
	}
	for _, f := range faults() {
		if got := causesOf(t, shownBy(t, strings.Fields(f.findings))); got != f.causes {
			t.Errorf("%s: told as [%s], want [%s]; findings %s", f.name, got, f.causes, f.findings)
		}
	}
}

// shownBy makes the cases of an endpoint: all built-in scenarios pass but those that the findings are from.
func shownBy(t *testing.T, findings []string) []trace.Case {
	t.Helper()
	list, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	var cases []trace.Case
	for _, s := range list {
		cases = append(cases, trace.Case{Scenario: s.ID, Result: trace.Result{Verdict: trace.Pass}})
	}
	cases = append(cases, trace.Case{Scenario: elsewhere, Result: trace.Result{Verdict: trace.Pass}})
	for _, f := range findings {
		scenario, rule, ok := strings.Cut(f, ":")
		if !ok {
			scenario, rule = elsewhere, f
		}
		i := slices.IndexFunc(cases, func(c trace.Case) bool { return c.Scenario == scenario })
		if i < 0 {
			i, cases = len(cases), append(cases, trace.Case{Scenario: scenario})
		}
		cases[i].Verdict = trace.Fail
		cases[i].Findings = append(cases[i].Findings, trace.Finding{Rule: rule, Severity: severity(t, rule)})
	}
	return cases
}

func severity(t *testing.T, rule string) trace.Severity {
	t.Helper()
	rules, err := allRules()
	i := slices.IndexFunc(rules, func(r scenarios.Rule) bool { return r.ID == rule })
	if err != nil || i < 0 {
		t.Fatalf("no rule %s, %v", rule, err)
	}
	return rules[i].Severity
}

func diagnoses(t *testing.T) []scenarios.Diagnosis {
	t.Helper()
	list, err := scenarios.Diagnoses()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func causesOf(t *testing.T, cases []trace.Case) string {
	t.Helper()
	return ids(Diagnose(diagnoses(t), cases))
}

func ids(told []trace.Diagnosis) string {
	var out []string
	for _, d := range told {
		out = append(out, d.ID)
	}
	return strings.Join(out, " ")
}

// TestDiagnoseFewScenarios: what did not run proves nothing, so the cause stays general.
func TestDiagnoseFewScenarios(t *testing.T) {
	for _, tt := range []struct{ findings, ran, want, reason string }{
		{"same-key-again:body-not-replayed", "", "replay-rebuilt", "whether replays agree was not seen"},
		{"same-key-again:body-not-replayed", "client-timeout", "answer-not-stored", "replays agree"},
		{"same-key-again:body-not-replayed", "same-key-different-body", "answer-not-stored", "replays agree"},
		{"in-progress-executed", "", "in-flight-not-claimed", "a burst may get through as well"},
		{"in-progress-executed", "same-key-concurrent", "lock-shorter-than-work", "a burst does not get through"},
		{"duplicate-creation", "same-key-again", "effect-not-guarded", "a burst may get through as well"},
		{"duplicate-creation", "same-key-again same-key-concurrent", "record-not-kept", "only this is different"},
		{"different-body-replayed", "", "body-not-bound", "perhaps nothing at all is compared"},
		{"different-body-replayed", "same-key-different-body", "part-of-request-compared", "something is compared"},
	} {
		cases := slices.DeleteFunc(shownBy(t, strings.Fields(tt.findings)), func(c trace.Case) bool {
			return c.Verdict == trace.Pass && !slices.Contains(strings.Fields(tt.ran), c.Scenario)
		})
		if got := causesOf(t, cases); got != tt.want {
			t.Errorf("%s, %s passed: told as [%s], want [%s]: %s", tt.findings, tt.ran, got, tt.want, tt.reason)
		}
	}
}

// TestDiagnoseNowAndThen: copies during the work that are executed in few rounds came into the gap that copies at once come into.
func TestDiagnoseNowAndThen(t *testing.T) {
	for seen, want := range []string{1: "checked-before-claimed", 2: "recorded-after-work", 3: "recorded-after-work"} {
		if seen == 0 {
			continue
		}
		cases := shownBy(t, []string{"same-key-concurrent:duplicate-creation", "in-progress-copy:in-progress-executed"})
		for i := range cases {
			cases[i].Rounds = 3
			for k := range cases[i].Findings {
				cases[i].Findings[k].Seen = seen
			}
		}
		if got := causesOf(t, cases); got != want {
			t.Errorf("seen in %d of 3 rounds: told as [%s], want [%s]", seen, got, want)
		}
	}
}

func TestDiagnoseNothing(t *testing.T) {
	if got := Diagnose(diagnoses(t), shownBy(t, nil)); got != nil {
		t.Errorf("an endpoint without findings has no cause, got %v", got)
	}
}

// TestDiagnoseEveryRule: no rule is without a cause, wherever it shows and whatever else passed or did not run.
func TestDiagnoseEveryRule(t *testing.T) {
	rules, err := scenarios.Rules()
	if err != nil {
		t.Fatal(err)
	}
	list, catalogue := mustBuiltins(t), diagnoses(t)
	for _, r := range rules {
		for _, s := range list {
			all := shownBy(t, []string{s.ID + ":" + r.ID})
			alone := slices.DeleteFunc(slices.Clone(all), func(c trace.Case) bool { return c.Scenario != s.ID })
			for _, cases := range [][]trace.Case{all, alone, shownBy(t, []string{r.ID})} {
				if got := Diagnose(catalogue, cases); len(got) != 1 || !slices.Equal(got[0].Rules, []string{r.ID}) {
					t.Errorf("%s in %s: got %v", r.ID, s.ID, got)
				}
			}
		}
	}
}

func mustBuiltins(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	list, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDiagnoseKeepsAll: each finding is a symptom of exactly one cause, and the order of cases and findings changes nothing.
func TestDiagnoseKeepsAll(t *testing.T) {
	rules, err := scenarios.Rules()
	if err != nil {
		t.Fatal(err)
	}
	catalogue, list := diagnoses(t), mustBuiltins(t)
	r := rand.New(rand.NewPCG(3, 4))
	tries := 200
	if testing.Short() {
		tries = 10
	}
	for range tries {
		share := 1 + r.IntN(60)
		var cases []trace.Case
		var want []trace.Symptom
		for _, s := range list {
			c := trace.Case{Scenario: s.ID, Result: trace.Result{Verdict: trace.Pass}}
			for _, rule := range rules {
				if r.IntN(share) == 0 {
					c.Verdict = trace.Fail
					c.Findings = append(c.Findings, trace.Finding{Rule: rule.ID, Severity: rule.Severity})
					want = append(want, trace.Symptom{Scenario: s.ID, Rule: rule.ID})
				}
			}
			cases = append(cases, c)
		}
		told := Diagnose(catalogue, cases)
		keepsAll(t, told, want)
		r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		for i := range cases {
			slices.Reverse(cases[i].Findings)
		}
		again := Diagnose(catalogue, cases)
		if ids(told) != ids(again) {
			t.Fatalf("another order of the cases: got [%s], before [%s]", ids(again), ids(told))
		}
		keepsAll(t, again, want)
		for i := range told {
			if !slices.Equal(told[i].Rules, again[i].Rules) {
				t.Fatalf("%s: another order of the cases gives %v, before %v", told[i].ID, again[i].Rules, told[i].Rules)
			}
		}
	}
}

// keepsAll checks that the symptoms of all causes are the findings, each once.
func keepsAll(t *testing.T, told []trace.Diagnosis, want []trace.Symptom) {
	t.Helper()
	var got []trace.Symptom
	for _, d := range told {
		if len(d.Symptoms) == 0 {
			t.Fatalf("%s explains nothing", d.ID)
		}
		got = append(got, d.Symptoms...)
	}
	order := func(a, b trace.Symptom) int { return strings.Compare(a.Scenario+":"+a.Rule, b.Scenario+":"+b.Rule) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Fatalf("the symptoms are not the findings:\ngot  %v\nwant %v", got, want)
	}
}

func TestDiagnosisHasItAll(t *testing.T) {
	told := Diagnose(diagnoses(t), shownBy(t, strings.Fields("same-key-again:key-ignored same-key-concurrent:duplicate-creation "+
		"same-key-different-body:different-body-executed client-timeout:lost-after-cut delayed-expiry:expired-early "+
		"server-error-then-retry:retry-repeats-partial-work")))
	if len(told) != 1 || len(told[0].Symptoms) != 6 || len(told[0].Rules) != 6 || !slices.IsSorted(told[0].Rules) {
		t.Fatalf("many findings with one cause must be told as one: got %+v", told)
	}
	if d := told[0]; d.Title == "" || d.Why == "" || d.Fix == "" || !strings.Contains(d.Example, "\n") {
		t.Errorf("got %+v", d)
	}
}

func TestWorstCauseFirst(t *testing.T) {
	got := causesOf(t, shownBy(t, []string{"equivalent-body-refused", "stuck-in-progress", "key-scoped-to-token"}))
	if want := "token-in-scope claim-never-released fingerprint-over-raw-bytes"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
