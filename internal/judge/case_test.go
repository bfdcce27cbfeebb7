package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func uncounted(f *trace.Facts) { f.Counters = nil }
func strictly(f *trace.Facts)  { f.Lenient = false }
func shortLife(f *trace.Facts) { f.Lifetime = 1000 * ms }

var (
	conflict = reply(409, `{"error":"in progress"}`)
	mismatch = reply(422, `{"error":"other body"}`)
	broken   = reply(500, `{"error":"boom"}`)
	busy     = reply(429, `{"error":"slow down"}`, "Retry-After: 1")
)

func TestCase(t *testing.T) {
	tests := []struct {
		name     string
		scenario string
		facts    func(*trace.Facts)
		round    func(*recorder)
		verdict  trace.Verdict
		rules    string // of the findings, worst first
		code     trace.Code
		reason   string
	}{
		// same-key-again
		{"honest", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7), order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "one effect, equal answers"},
		{"late sweep agrees", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7)).read("after", 1, 1).read("late", 0, 1)
		}, trace.Pass, "", "", "a late look that shows less is a clean-up, not an effect that went away"},
		{"no dedupe", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8), order(9), order(10)).read("after", 4, 4)
		}, trace.Fail, "key-ignored", "", "four creations for one key; differing answers need no second finding"},
		{"late effect", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8)).read("after", 1, 1).read("late", 2, 2)
		}, trace.Fail, "key-ignored", "", "the late look supersedes the first one"},
		{"answer replayed, effect not", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7)).read("after", 3, 3)
		}, trace.Fail, "silent-duplicate", "", "all answers agree"},
		{"mail twice", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7)).read("after", 1, 2)
		}, trace.Fail, "side-effect-repeated", "", "one counter as planned, the other above"},
		{"one above, one below", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8)).read("after", 2, 0)
		}, trace.Fail, "key-ignored", "", "not a side effect beside an effect done once"},
		{"nothing done", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7)).read("after", 0, 0)
		}, trace.Fail, "nothing-created", "", "success and no effect"},
		{"other status", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(200, order(7).response.Body.Text, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "status-not-replayed", "", "201 then 200"},
		{"location lost", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, order(7).response.Body.Text)).read("after", 1, 1)
		}, trace.Fail, "headers-not-replayed", "", "a header that matters is missing"},
		{"rebuilt value, lenient", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":2,"request_id":"r"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Warn, "body-not-replayed/minor", "", "a changed value beside equal creation fields"},
		{"rebuilt creation field", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_9","qty":1,"request_id":"r"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "lenient only beside equal creation fields"},
		{"minor first, then major", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":2,"request_id":"r"}`, "Location: /orders/ord_7"), reply(201, `{"id":"ord_7"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "the worst copy decides"},
		{"rebuilt value, strict", "same-key-again", strictly, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":2,"request_id":"r"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "the dialect promises a snapshot"},
		{"field lost", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "a missing field is more than a changed value"},
		{"empty replay", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, "", "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Fail, "headers-not-replayed body-not-replayed", "", "body and its type are gone"},
		{"another creation, counted once", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8)).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "the answer was made anew, the effect was not"},
		{"key order", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"qty":1, "id":"ord_7","request_id":"r"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Warn, "replay-not-byte-identical", "", "equal JSON in other bytes"},
		{"volatile names", "same-key-again", strictly, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":1,"request_id":"other"}`, "Location: /orders/ord_7", "Date: now")).read("after", 1, 1)
		}, trace.Pass, "", "", "request ids and Date are no part of a replay"},
		{"ignored by the plan", "same-key-again", func(f *trace.Facts) { f.Lenient, f.IgnoreJSON = false, []string{"$.qty"} }, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":2,"request_id":"r"}`, "Location: /orders/ord_7")).read("after", 1, 1)
		}, trace.Pass, "", "", "the plan says so"},
		{"conflict after success", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", conflict).read("after", 1, 1)
		}, trace.Fail, "conflict-instead-of-replay", "", "the operation had concluded"},
		{"refused after success", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", mismatch).read("after", 1, 1)
		}, trace.Fail, "status-not-replayed", "", "422 is no conflict"},
		{"token expired", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(401, `{"error":"token"}`)).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Auth, "credentials ran out, which says nothing about the key"},
		{"retry crashes", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", broken).read("after", 1, 1)
		}, trace.Fail, "server-error-on-retry", "", "a copy answered with 5xx where the first was not"},
		{"down from the start", "same-key-again", nil, func(r *recorder) {
			r.send("first", broken).series("again", broken, broken).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.Assumption, "the case relies on the first request"},
		{"busy, then fine", "same-key-again", nil, func(r *recorder) {
			r.send("first", busy, order(7)).series("again", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "busy was waited out"},
		{"busy for good", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), busy).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.StillBusy, "never answered by the endpoint"},
		{"gateway page", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), html(404)).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.FromIntermediary, "HTML where the control had JSON"},
		{"time-out", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), lost(trace.PhaseAnswer, "read tcp: i/o timeout")).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Timeout, "a copy has no answer"},
		{"connection refused", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), lost(trace.PhaseDial, "connection refused")).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Unreachable, "a copy was never sent"},
		{"gateway lost the answer", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), reply(504, "")).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.FromIntermediary, "504 is ambiguous"},
		{"stuck", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7).slow(5000*ms))
			r.round.Exchanges[0].Response = nil
			r.round.Exchanges[0].Broke, r.round.Exchanges[0].Error = trace.PhaseAnswer, "connection closed"
			r.send("again", conflict, conflict.slow(4000*ms)).read("after", 0, 0)
		}, trace.Fail, "stuck-in-progress", "", "in progress past the limit, whatever became of the first"},
		{"no counter at the end", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7))
		}, trace.Inconclusive, "", trace.CounterUnreadable, "the reading after the requests is missing"},
		{"counter unreadable", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7)).read("after", 1, 1)
			r.round.Readings[1].Values[0].Error = "status 500"
		}, trace.Inconclusive, "", trace.CounterUnreadable, "one counter gave no number"},
		{"counters unreadable, answers differ", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8)).read("after", 1, 1)
			for i := range r.round.Readings[1].Values {
				r.round.Readings[1].Values[i].Error = "status 500"
			}
		}, trace.Fail, "key-ignored", "", "two creations are named, whatever the counters say"},
		{"lifetime too short", "same-key-again", shortLife, func(r *recorder) {
			r.send("first", order(7)).wait(950*ms).series("again", order(8)).read("after", 2, 2)
		}, trace.Inconclusive, "", trace.LifetimeExceeded, "the key may have expired on its own"},
		{"interrupted", "same-key-again", nil, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), lost(trace.PhaseAnswer, "stopped: context canceled")).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Interrupted, "the user stopped the run"},
		{"long bodies", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7)).read("after", 0, 0)
			for i, digest := range []string{"aa", "aa", "bb"} {
				b := &r.round.Exchanges[i].Response.Body
				b.Truncated, b.Size, b.SHA256 = true, 9_000_000, digest
			}
		}, trace.Inconclusive, "", trace.NoEvidence, "the digests differ, and so may a request id in them"},
		{"long bodies, the same", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7)).read("after", 0, 0)
			for i := range r.round.Exchanges {
				b := &r.round.Exchanges[i].Response.Body
				b.Truncated, b.Size, b.SHA256 = true, 9_000_000, "aa"
			}
		}, trace.Pass, "", "", "equal digests"},
		{"long text", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), order(7)).read("after", 0, 0)
			for i, digest := range []string{"aa", "aa", "bb"} {
				a := r.round.Exchanges[i].Response
				a.Body.Truncated, a.Body.Size, a.Body.SHA256 = true, 9_000_000, digest
				a.Headers = []trace.Header{{Name: "Server", Value: "shop"}, {Name: "Content-Type", Value: "text/csv"}, {Name: "Location", Value: "/orders/ord_7"}}
			}
		}, trace.Fail, "body-not-replayed", "", "the digests of the whole bodies differ"},
		{"long body, cut", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7)).read("after", 0, 0)
			b := &r.round.Exchanges[0].Response.Body
			b.Truncated, b.Size, b.SHA256 = true, 9_000_000, "aa"
			c := &r.round.Exchanges[1].Response.Body
			c.Text, c.Size = c.Text[:10], 10
		}, trace.Fail, "body-not-replayed", "", "no JSON any more"},
		{"within the lifetime", "same-key-again", shortLife, func(r *recorder) {
			r.send("first", order(7)).wait(700*ms).series("again", order(8)).read("after", 2, 2)
		}, trace.Fail, "key-ignored", "", "executed again before the lifetime ended"},
		{"uncounted honest", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7)).read("after", 0, 0)
		}, trace.Pass, "", "", "two answers name one creation"},
		{"uncounted duplicate", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(8)).read("after", 0, 0)
		}, trace.Fail, "key-ignored", "", "two answers name two creations"},
		{"uncounted, one field equal", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", reply(201, `{"id":"ord_7","qty":1,"request_id":"r"}`, "Location: /orders/ord_8")).read("after", 0, 0)
		}, trace.Fail, "headers-not-replayed", "", "some creation fields differ: an unfaithful replay, not a second creation"},
		{"uncounted, answer lost", "same-key-again", uncounted, func(r *recorder) {
			r.send("first", order(7)).series("again", order(7), lost(trace.PhaseCut, "")).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.NoEvidence, "the lost copy may have created something that no answer names"},

		// same-key-concurrent
		{"honest, waits", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), order(7), order(7)).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "all copies get the one answer"},
		{"honest, 409 while running", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", conflict, order(7), conflict).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "in progress is no refusal"},
		{"honest, 202 while running", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), reply(202, `{"status":"running"}`), conflict).send("after", reply(202, `{}`).slow(ms), order(7)).read("after", 1, 1)
			r.round.Exchanges[3].Started = r.round.Exchanges[0].Done - ms // sent before the first was over
		}, trace.Pass, "", "", "a 2xx of the in-progress set is no replay"},
		{"honest, 429 in the burst", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), order(7), busy, busy).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "copies that were turned away are no copies"},
		{"race", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), order(8), order(7)).send("after", order(7)).read("after", 2, 2)
		}, trace.Fail, "duplicate-creation", "", "two effects for one key"},
		{"race, answers agree", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), order(7), conflict).send("after", order(7)).read("after", 2, 2)
		}, trace.Fail, "silent-duplicate", "", "nobody can tell from the answers"},
		{"losers crash", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), broken, broken).send("after", order(7)).read("after", 1, 1)
		}, trace.Fail, "server-error-on-retry", "", "a unique constraint shown as 500"},
		{"refused for good afterwards", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), conflict).send("after", conflict).read("after", 1, 1)
		}, trace.Fail, "conflict-instead-of-replay", "", "409 after the first had answered"},
		{"undocumented 423 while running", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", order(7), reply(423, `{}`)).send("after", order(7)).read("after", 1, 1)
		}, trace.Warn, "wrong-refusal-status", "", "the first was still under way"},
		{"stuck after the burst", "same-key-concurrent", nil, func(r *recorder) {
			r.burst("burst", broken, conflict).send("after", conflict, conflict.slow(4000*ms)).read("after", 0, 0)
		}, trace.Fail, "stuck-in-progress server-error-on-retry", "", "a 5xx concludes nothing, the key never comes free"},

		// same-key-different-body
		{"mismatch refused", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", mismatch).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "refused and the stored answer survives"},
		{"mismatch refused with 409", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", conflict).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "the same 409 is no in progress once the first has concluded"},
		{"wrong status", "same-key-different-body", func(f *trace.Facts) { f.Statuses.Mismatch = []int{400} }, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", mismatch).send("after", order(7)).read("after", 1, 1)
		}, trace.Warn, "wrong-refusal-status", "", "refused, but not as the dialect says"},
		{"replayed", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", order(7)).send("after", order(7)).read("after", 1, 1)
		}, trace.Fail, "different-body-replayed", "", "the first answer as if it fitted"},
		{"refused with 200, as the dialect says", "same-key-different-body", func(f *trace.Facts) { f.ErrorsAt = "$.errors" }, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", reply(200, `{"errors":[{"message":"used"}]}`)).send("after", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "an error in an answer of any status"},
		{"perhaps refused with 200", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", reply(200, `{"errors":[{"message":"used"}]}`)).send("after", order(7)).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Assumption, "nothing says that $.errors is where refusals stand"},
		{"carried out with 200 and errors", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", reply(200, `{"errors":[{"message":"used"}]}`)).send("after", order(7)).read("after", 2, 2)
		}, trace.Fail, "different-body-executed", "", "the counters tell that it was no refusal"},
		{"no errors", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", reply(200, `{"errors":[]}`)).send("after", order(7)).read("after", 1, 1)
		}, trace.Fail, "different-body-replayed", "", "an empty list is no error"},
		{"executed", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", order(8)).send("after", order(7)).read("after", 2, 2)
		}, trace.Fail, "different-body-executed", "", "an effect of its own is no replay"},
		{"executed, uncounted", "same-key-different-body", uncounted, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", order(8)).send("after", order(7)).read("after", 0, 0)
		}, trace.Fail, "different-body-executed", "", "the answers name two creations"},
		{"executed, one counter unreadable", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", order(8)).send("after", order(7)).read("after", 2, 2)
			r.round.Readings[1].Values[0].Error = "status 500"
		}, trace.Fail, "different-body-executed", "", "its answer names a creation of its own"},
		{"overwritten", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", mismatch).send("after", mismatch).read("after", 1, 1)
		}, trace.Fail, "stored-answer-overwritten", "", "the refusal took the place of the stored answer"},
		{"every repeat refused", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", conflict).send("other", conflict).send("after", conflict).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.NoEvidence, "nothing was replayed before the mismatch, so it can have overwritten nothing"},
		{"mismatch crashes", "same-key-different-body", nil, func(r *recorder) {
			r.send("first", order(7)).send("again", order(7)).send("other", broken).send("after", order(7)).read("after", 1, 1)
		}, trace.Fail, "server-error-on-retry", "", "neither refused nor accepted"},

		// fresh-key-per-retry
		{"fresh keys create", "fresh-key-per-retry", nil, func(r *recorder) {
			r.send("first", order(7)).fresh("fresh", order(8), order(9)).read("after", 3, 3)
		}, trace.Pass, "", "", "one effect for each key"},
		{"deduplicated by body", "fresh-key-per-retry", nil, func(r *recorder) {
			r.send("first", order(7)).fresh("fresh", order(7), order(7)).read("after", 1, 1)
		}, trace.Fail, "fresh-key-deduplicated", "", "success for a fresh key and no effect"},
		{"deduplicated by body, uncounted", "fresh-key-per-retry", uncounted, func(r *recorder) {
			r.send("first", order(7)).fresh("fresh", order(7), order(7)).read("after", 0, 0)
		}, trace.Fail, "fresh-key-deduplicated", "", "other keys name the same creation"},
		{"the same key twice under a label", "fresh-key-per-retry", nil, func(r *recorder) {
			r.send("first", order(7), order(7)).fresh("fresh", order(8), order(9)).read("after", 3, 3)
		}, trace.Pass, "", "", "only other keys must name other creations"},
		{"natural key", "fresh-key-per-retry", nil, func(r *recorder) {
			r.send("first", order(7)).fresh("fresh", reply(409, `{"error":"exists"}`), reply(409, `{"error":"exists"}`)).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Assumption, "a refused fresh key is a natural key, not a lost operation"},
		{"one fresh key turned away", "fresh-key-per-retry", nil, func(r *recorder) {
			r.send("first", order(7)).fresh("fresh", order(8), busy).read("after", 2, 2)
		}, trace.Inconclusive, "", trace.StillBusy, "a key without an answer of the endpoint owes no effect"},

		// missing-key
		{"missing key refused", "missing-key", nil, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{reply(400, `{}`)}).read("after", 0, 0)
		}, trace.Pass, "", "", "refused, nothing done"},
		{"missing key accepted", "missing-key", nil, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{order(7)}).read("after", 1, 1)
		}, trace.Fail, "key-not-required", "", "ran unprotected"},
		{"missing key refused otherwise", "missing-key", nil, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{mismatch}).read("after", 0, 0)
		}, trace.Warn, "wrong-refusal-status", "", "refused, but not as documented"},
		{"missing key crashes", "missing-key", nil, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{broken}).read("after", 0, 0)
		}, trace.Fail, "bad-key-crashes", "", "a missing key must be refused, not crash"},

		{"missing key refused, uncounted", "missing-key", uncounted, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{reply(400, `{}`)}).read("after", 0, 0)
		}, trace.Pass, "", "", "a refusal names no effect"},
		{"missing key accepted, uncounted", "missing-key", uncounted, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{order(7)}).read("after", 0, 0)
		}, trace.Fail, "key-not-required", "", "success is enough"},
		{"missing key, token expired", "missing-key", nil, func(r *recorder) {
			r.copies("keyless", []string{"none"}, []answer{reply(401, `{}`)}).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.Auth, "refused for another reason"},

		// client-timeout
		{"client leaves, retry replays", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", order(7)).send("again", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "done once, answered on the retry"},
		{"client leaves, retry waits", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", conflict, order(7)).send("again", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "in progress, then the result"},
		{"client leaves, created again", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", order(8)).send("again", order(8)).read("after", 2, 2)
		}, trace.Fail, "lost-after-cut", "", "the lost request had its effect too"},
		{"client leaves, claim kept", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", conflict, conflict.slow(4000*ms)).send("again", conflict, conflict.slow(4000*ms)).read("after", 0, 0)
		}, trace.Fail, "stuck-in-progress", "", "the key never comes free"},
		{"client leaves, done, never told", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "").shown()).send("retry", conflict).send("again", conflict).read("after", 1, 1)
		}, trace.Fail, "conflict-instead-of-replay", "", "the counters had shown the effect, so the operation was over"},
		{"client leaves, retry fails", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", mismatch).send("again", mismatch).read("after", 1, 1)
		}, trace.Fail, "cut-not-completed", "", "the retry never gets the result"},
		{"client leaves, 202 while running", "client-timeout", nil, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "").shown()).send("retry", reply(202, `{}`), order(7)).send("again", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "202 is not this endpoint's success, even once the effect shows"},
		{"answered before the cut", "client-timeout", nil, func(r *recorder) {
			r.send("lost", order(7))
			r.last().Cut = &trace.Cut{At: "sent"}
			r.send("retry", order(8)).send("again", order(8)).read("after", 2, 2)
		}, trace.Inconclusive, "", trace.NoEvidence, "nothing was cut"},
		{"cut, uncounted", "client-timeout", uncounted, func(r *recorder) {
			r.send("lost", lost(trace.PhaseCut, "")).send("retry", order(7)).send("again", order(7)).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.NoEvidence, "nobody saw whether the lost request had an effect of its own"},

		// server-error-then-retry
		{"retry finishes", "server-error-then-retry", nil, func(r *recorder) {
			r.send("failing", broken).send("retry", order(7)).send("again", order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "done once"},
		{"failure pinned", "server-error-then-retry", nil, func(r *recorder) {
			r.send("failing", broken).send("retry", broken).send("again", broken).read("after", 0, 0)
		}, trace.Fail, "failure-pinned", "", "the old 5xx answers the retry"},
		{"effect repeated", "server-error-then-retry", nil, func(r *recorder) {
			r.send("failing", broken).send("retry", order(7)).send("again", order(7)).read("after", 2, 2)
		}, trace.Fail, "retry-repeats-partial-work", "", "what had happened happens again"},
		{"uncounted", "server-error-then-retry", uncounted, func(r *recorder) {
			r.send("failing", broken).send("retry", order(7)).send("again", order(7)).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.NoEvidence, "nobody saw whether the failure had an effect"},
		{"does not fail", "server-error-then-retry", nil, func(r *recorder) {
			r.send("failing", order(7)).send("retry", order(7)).send("again", order(7)).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Assumption, "nothing was retried after a 5xx"},

		// delayed-expiry
		{"expires as documented", "delayed-expiry", shortLife, expiry(order(7), 1, order(8), 2),
			trace.Pass, "", "", "replayed before, executed after"},
		{"expired early", "delayed-expiry", shortLife, expiry(order(8), 2, order(9), 3),
			trace.Fail, "expired-early", "", "executed again within the lifetime"},
		{"never expires", "delayed-expiry", shortLife, expiry(order(7), 1, order(7), 1),
			trace.Warn, "never-expires", "", "still replayed after the lifetime"},
		{"expires, uncounted", "delayed-expiry", func(f *trace.Facts) { shortLife(f); uncounted(f) }, expiry(order(7), 0, order(8), 0),
			trace.Pass, "", "", "answers alone tell a replay from a creation"},
		{"never expires, uncounted", "delayed-expiry", func(f *trace.Facts) { shortLife(f); uncounted(f) }, expiry(order(7), 0, order(7), 0),
			trace.Warn, "never-expires", "", "nothing new is named after the lifetime"},
		{"nothing named, uncounted", "delayed-expiry", func(f *trace.Facts) { shortLife(f); uncounted(f) }, expiry(order(7), 0, reply(201, `{}`), 0),
			trace.Inconclusive, "", trace.NoEvidence, "an answer that names nothing may stand for anything"},
		{"expired early, uncounted", "delayed-expiry", func(f *trace.Facts) { shortLife(f); uncounted(f) }, expiry(order(8), 0, order(9), 0),
			trace.Fail, "expired-early", "", "two creations are named within the lifetime"},
		{"replayed too late", "delayed-expiry", shortLife, func(r *recorder) {
			r.send("first", order(7)).wait(950*ms).send("before", order(8)).read("kept", 2, 2).wait(500*ms).send("after", order(9)).read("after", 3, 3)
		}, trace.Inconclusive, "", trace.LifetimeExceeded, "the retry came too close to the end"},
	}
	for _, tt := range tests {
		t.Run(tt.scenario+"/"+tt.name, func(t *testing.T) {
			f := facts()
			if tt.facts != nil {
				tt.facts(&f)
			}
			r := record(builtin(t, tt.scenario), 3)
			tt.round(r)
			in := input(t, tt.scenario, f, r)
			got := Case(in)
			if got.Verdict != tt.verdict || told(in.Rules, got.Findings) != tt.rules || got.Reason != tt.code {
				t.Errorf("%s: got %s [%s] %s (%s), want %s [%s] %s", tt.reason, got.Verdict, told(in.Rules, got.Findings), got.Reason, got.Detail, tt.verdict, tt.rules, tt.code)
				for _, f := range got.Findings {
					t.Logf("%s: %s\nexpected %s\nactual %s", f.Rule, f.Message, f.Expected, f.Actual)
				}
			}
			if (got.Power != "") != (got.Verdict == trace.Pass || got.Verdict == trace.Warn) {
				t.Errorf("power %q beside verdict %s", got.Power, got.Verdict)
			}
			for _, f := range got.Findings {
				if f.Message == "" || f.Expected == "" || f.Actual == "" || len(f.Exchanges) == 0 || strings.HasSuffix(f.Message, ".") {
					t.Errorf("incomplete finding %+v", f)
				}
			}
		})
	}
}

// expiry is a round of delayed-expiry with what the retry before and the one after the lifetime got.
func expiry(before answer, kept int64, after answer, total int64) func(*recorder) {
	return func(r *recorder) {
		r.send("first", order(7)).wait(700*ms).send("before", before).read("kept", kept, kept).
			wait(500*ms).send("after", after).read("after", total, total)
	}
}
