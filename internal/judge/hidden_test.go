package judge

import (
	"fmt"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// numbered is an answer that names its creation by a short number.
func numbered(n int) answer { return reply(201, fmt.Sprintf(`{"id":%d,"qty":1}`, n)) }

// numbers makes the control name its creations so; the first control answer has number 1.
func numbers(in *Input) {
	for i := range in.Control.Rounds {
		in.Control.Rounds[i].Exchanges[0].Response = numbered(i + 1).response
	}
	in.Control.Learned = Learn(in.Facts, in.Control)
}

func TestHidden(t *testing.T) {
	s := script([]string{"first", "theirs"}, scenarios.Expectation{Hidden: []string{"theirs"}, Rule: "key-shared-across-callers"})
	callers := func(theirs answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", order(7)).under("A@other", "theirs", theirs).counted("after", 1, 1)
		}
	}
	with := func(s *scenarios.Scenario, label string) *scenarios.Scenario {
		return script([]string{label, "first", "theirs"}, s.Expect...)
	}
	based := func(base, theirs answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "B@other", "A@other").under("B@other", "base", base).under("A", "first", order(7)).under("A@other", "theirs", theirs).counted("after", 1, 1)
		}
	}
	marked := reply(201, `{"id":"ord_7","reference":"rsmarker1"}`, "Location: /orders/ord_7")
	judgeForms(t, []formCase{
		{"an order of their own", s, nil, callers(order(8)), trace.Pass, "", "", "nothing of the first"},
		{"the first answer", s, nil, callers(order(7)), trace.Fail, "key-shared-across-callers", "", "another caller's order"},
		{"a refusal that tells", s, nil, callers(reply(409, `{"error":"used by ord_7"}`)), trace.Fail, "key-shared-across-callers", "", "whatever the status"},
		{"a refusal with its place", s, nil, callers(reply(422, ``, "Location: /orders/ord_7")), trace.Fail, "key-shared-across-callers", "", "a Location tells too"},
		{"a longer word", s, nil, callers(reply(409, `{"error":"ord_71, ord_7x"}`)), trace.Pass, "", "", "only whole names count"},
		{"a refusal that does not tell", s, nil, callers(conflict), trace.Pass, "", "", "refused, nothing shown"},
		{"nobody is let in", s, nil, func(s *scenarios.Scenario) *recorder {
			r := callers(reply(401, `{}`))(s)
			for i := range r.round.Exchanges {
				r.round.Exchanges[i].Caller = ""
			}
			return r
		}, trace.Pass, "", "", "a refusal holds nothing"},
		{"a caller who may not", s, nil, callers(reply(403, `{}`)), trace.Inconclusive, "", trace.Auth, "refused for who asks, so nothing shows whose key it is"},
		{"a caller who may not, and sees it", s, nil, callers(reply(403, `{"order":"ord_7"}`)), trace.Fail, "key-shared-across-callers", "", "a leak is one all the same"},
		{"nor with another key", with(s, "base"), nil, based(reply(404, `{}`), reply(404, `{}`)), trace.Inconclusive, "", trace.Auth, "nothing is there for them"},
		{"nor with another key, and sees it", with(s, "base"), nil, based(reply(404, `{}`), reply(404, `{"order":"ord_7"}`)), trace.Fail, "key-shared-across-callers", "", "a leak is one all the same"},
		{"refused otherwise", with(s, "base"), nil, based(reply(404, `{}`), conflict), trace.Pass, "", "", "a refusal that knows the key, and shows nothing"},
		{"with another key they may", with(s, "base"), nil, based(order(6), reply(404, `{}`)), trace.Pass, "", "", "refused for the key"},
		{"no answer", s, nil, callers(lost(trace.PhaseAnswer, "EOF")), trace.Inconclusive, "", trace.CutOff, "nothing to look at"},
		{"turned away", s, nil, callers(busy), trace.Inconclusive, "", trace.StillBusy, "not the endpoint's answer"},
		{"the first refused", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", mismatch).under("A@other", "theirs", order(8)).counted("after", 0, 1)
		}, trace.Inconclusive, "", trace.NoEvidence, "nothing was created that could be shown"},
		{"what the control had too", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", order(2)).under("A@other", "theirs", order(2)).counted("after", 1, 1)
		}, trace.Inconclusive, "", trace.NoEvidence, "it names no single creation"},
		{"its marker", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", marked).under("A@other", "theirs", reply(409, `{"error":"rsmarker1 was ordered"}`)).counted("after", 1, 0)
		}, trace.Fail, "key-shared-across-callers", "", "the marker stands in the first request alone"},
		{"an id made of the key", s, nil, callers(reply(201, `{"id":"ord_7","reference":"rsmarker2"}`)), trace.Pass, "", "", "the answer shows its own marker"},
		{"asked for by themselves", s, nil, func(s *scenarios.Scenario) *recorder {
			r := callers(reply(409, `{"error":"no ord_7 for you"}`))(s)
			r.last().Request.Body = trace.Body{Text: `{"order":"ord_7"}`}
			return r
		}, trace.Pass, "", "", "the request named it"},
		{"created later", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A@other", "theirs", order(7)).under("A", "first", order(7)).counted("after", 1, 1)
		}, trace.Inconclusive, "", trace.NoEvidence, "what came later cannot have been shown"},
		{"compressed", s, nil, callers(gzipped(order(7))), trace.Fail, "key-shared-across-callers", "", "looked into"},
	})
}

func TestHiddenNumbers(t *testing.T) {
	s := script([]string{"first", "theirs"}, scenarios.Expectation{Hidden: []string{"theirs"}, Rule: "key-shared-across-callers"})
	tests := []struct {
		name   string
		theirs answer
		counts []int64
		want   trace.Verdict
		reason string
	}{
		{"the first number", numbered(7), []int64{1, 0}, trace.Fail, "nothing was done for them"},
		{"the first number, their own effect", numbered(7), []int64{1, 1}, trace.Pass, "every tenant may count from 1"},
		{"another number", numbered(8), []int64{1, 1}, trace.Pass, "their own"},
		{"the number in a text", reply(409, `{"error":"7 failed"}`), []int64{1, 0}, trace.Pass, "any 7"},
		{"the number elsewhere", reply(201, `{"id":8,"qty":7}`), []int64{1, 1}, trace.Pass, "not the place of a name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := among(s, "A", "A@other").under("A", "first", numbered(7)).under("A@other", "theirs", tt.theirs).counted("after", tt.counts...)
			in := input(t, "same-key-again", facts(), r)
			in.Scenario = s
			numbers(&in)
			if got := Case(in); got.Verdict != tt.want {
				t.Errorf("%s: got %s (%s) [%s], want %s", tt.reason, got.Verdict, got.Detail, told(in.Rules, got.Findings), tt.want)
			}
		})
	}
}

// TestHiddenShortNumbers holds that a number that is too short to tell by itself tells where nobody else is shown it, and that
// nobody is accused of an accident.
func TestHiddenShortNumbers(t *testing.T) {
	s := script([]string{"base", "first", "theirs"}, scenarios.Expectation{Hidden: []string{"theirs"}, Rule: "key-shared-across-callers"})
	told409 := func(body string, headers ...string) answer { return reply(409, body, headers...) }
	tests := []struct {
		name           string
		base           answer
		id             int
		theirs         answer
		own            int64 // their own effects
		want           trace.Verdict
		detail, reason string
	}{
		{"in a refusal", numbered(3), 48213, told409(`{"error":{"order":48213}}`), 0, trace.Fail, "$.error.order holds 48213, the $.id of that one", "whose order is it?"},
		{"in a refusal, as text", numbered(3), 48213, told409(`{"order":"48213"}`), 0, trace.Fail, "$.order", "quotes make no difference"},
		{"in a sentence", numbered(3), 48213, told409(`{"error":"used by order 48213"}`), 0, trace.Fail, "$.error", "named"},
		{"in a header", numbered(3), 48213, told409(`{}`, "X-Order: 48213"), 0, trace.Fail, "header X-Order", "a header names it too"},
		{"in a link", numbered(3), 48213, told409(`{}`, "Link: </orders/48213>; rel=first"), 0, trace.Fail, "header Link", "where it is"},
		{"in no JSON", numbered(3), 48213, answer{response: &trace.Response{Status: 409, Headers: []trace.Header{{Name: "Server", Value: "shop"}}, Body: trace.Body{Text: "order 48213 used it", Size: 19}}}, 0, trace.Fail, "the body", "plain text"},
		{"beside an order of their own", numbered(3), 48213, reply(201, `{"id":48214,"qty":1,"after":48213}`), 1, trace.Fail, "$.after", "no other answer has it"},
		{"where a constant stands elsewhere", numbered(3), 48213, reply(201, `{"id":48214,"qty":48213}`), 1, trace.Fail, "$.qty", "others are answered 1 there"},
		{"part of a longer number", numbered(3), 48213, told409(`{"at":1482139}`), 0, trace.Pass, "", "another number"},
		{"what others are answered too", told409(`{"stock":48213}`), 48213, told409(`{"left":48213}`), 0, trace.Pass, "", "it names no order there"},
		{"a duration", numbered(3), 4821, told409(`{"took_ms":4821}`), 0, trace.Pass, "", "no name"},
		{"a length", numbered(3), 4821, told409(`{}`, "Content-Length: 4821"), 0, trace.Pass, "", "no name"},
		{"a year", numbered(3), 2026, told409(`{"vintage":2026}`), 0, trace.Inconclusive, "2026 at $.vintage, which is the $.id of `first`", "may be one"},
		{"one digit", numbered(3), 7, told409(`{"code":7}`), 0, trace.Inconclusive, "7 at $.code", "may be the code of the error"},
		{"the status", numbered(3), 409, told409(`{"status":409}`), 0, trace.Pass, "", "it says so by itself"},
		{"one digit beside an order of their own", numbered(3), 7, reply(201, `{"id":8,"qty":7}`), 1, trace.Pass, "", "any 7"},
		{"their own number", reply(201, `{"id":3,"seq":48211}`), 48213, reply(201, `{"id":48214,"seq":48213}`), 1, trace.Pass, "", "it may count"},
		{"a number that may count", told409(`{"seq":48211}`), 48213, told409(`{"seq":48213}`), 0, trace.Inconclusive, "48213 at $.seq", "nobody knows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := among(s, "B@other", "A", "A@other").under("B@other", "base", tt.base).under("A", "first", numbered(tt.id)).under("A@other", "theirs", tt.theirs)
			in := input(t, "same-key-again", facts(), r.counted("after", 1, 1, tt.own))
			in.Scenario = s
			numbers(&in)
			got := Case(in)
			text := got.Detail
			for _, f := range got.Findings {
				text += f.Message
			}
			if got.Verdict != tt.want || !strings.Contains(text, tt.detail) {
				t.Errorf("%s: got %s (%s), want %s with %q", tt.reason, got.Verdict, text, tt.want, tt.detail)
			}
		})
	}
}

// TestHiddenFromAnImpostor holds that numbers tell also where another caller sends the very same request, which is counted together
// with the first one's, and that nobody is accused whose tenants count from 1 each.
func TestHiddenFromAnImpostor(t *testing.T) {
	s := script([]string{"first", "base", "impostor"}, scenarios.Expectation{Hidden: []string{"impostor"}, Rule: "key-shared-across-callers"})
	tests := []struct {
		name           string
		base, impostor answer
		effects        int64 // of the key that both sent, as the first caller sees them
		want           trace.Verdict
		reason         string
	}{
		{"the first number, below their own", numbered(48214), numbered(48213), 1, trace.Fail, "what is made behind an order has a higher number"},
		{"the first number, above their own", numbered(48212), numbered(48213), 1, trace.Inconclusive, "the next one of a tenant that counts by itself"},
		{"the first number, nothing of their own", conflict, numbered(48213), 1, trace.Inconclusive, "nobody knows how they are numbered"},
		{"the first number, two effects", numbered(48214), numbered(48213), 2, trace.Pass, "one of them is theirs"},
		{"a number of their own", numbered(48214), numbered(48215), 2, trace.Pass, "another order"},
		{"a number of their own, unseen", numbered(48214), numbered(48215), 1, trace.Pass, "the first caller cannot count it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := among(s, "A", "B@other").under("A", "first", numbered(48213)).under("B@other", "base", tt.base).under("A", "impostor", tt.impostor)
			r.last().Caller = "other"
			in := input(t, "same-key-again", facts(), r.counted("after", tt.effects, 1))
			in.Scenario = s
			numbers(&in)
			if got := Case(in); got.Verdict != tt.want {
				t.Errorf("%s: got %s (%s) [%s], want %s", tt.reason, got.Verdict, got.Detail, told(in.Rules, got.Findings), tt.want)
			}
		})
	}
}

// TestHiddenBesideAnEffect leaves open what the first one's id means in the answer to another caller whose request had an effect: an id that is
// made of the body, or a stored answer that was given behind an effect.
func TestHiddenBesideAnEffect(t *testing.T) {
	s := script([]string{"first", "impostor"}, scenarios.Expectation{Hidden: []string{"impostor"}, Rule: "key-shared-across-callers"})
	for effects, want := range map[int64]trace.Verdict{1: trace.Fail, 2: trace.Inconclusive} {
		r := among(s, "A").under("A", "first", order(7)).under("A", "impostor", order(7))
		r.last().Caller = "other"
		in := input(t, "same-key-again", facts(), r.counted("after", effects))
		in.Scenario = s
		if got := Case(in); got.Verdict != want {
			t.Errorf("%d effects: got %s (%s) [%s], want %s", effects, got.Verdict, got.Detail, told(in.Rules, got.Findings), want)
		}
	}
}

// TestHiddenFromNobody holds that an endpoint that wants credentials shows nothing without them, and that one for everybody is not accused.
func TestHiddenFromNobody(t *testing.T) {
	s := builtin(t, "anonymous-caller-same-body")
	unauthorized := reply(401, `{"error":"log in"}`)
	tests := []struct {
		name         string
		base, nobody answer
		want         trace.Verdict
		reason       string
	}{
		{"refused", unauthorized, unauthorized, trace.Pass, "as it should be"},
		{"a replay", unauthorized, order(7), trace.Fail, "no other request without credentials is served"},
		{"a replay, numbered", unauthorized, numbered(48213), trace.Fail, "a number is no one's own who is not served"},
		{"a refusal that names it", unauthorized, reply(409, `{"error":"used for ord_7"}`), trace.Fail, "named is shown"},
		{"served, an order of its own", order(8), order(9), trace.Pass, "nobody's orders are nobody's"},
		{"told alike", order(8), order(8), trace.Pass, "a constant answer to nobody is no leak"},
		{"served, a replay", order(8), order(7), trace.Inconclusive, "perhaps it does not look at credentials"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := order(7)
			if strings.Contains(tt.name, "numbered") {
				first = numbered(48213)
			}
			r := among(s, "A", "B@anonymous").under("A", "first", first).under("B@anonymous", "base", tt.base).under("A", "nobody", tt.nobody)
			r.round.Exchanges[0].Caller = "alice"
			in := input(t, s.ID, facts(), r.counted("after", 1, 0))
			if strings.Contains(tt.name, "numbered") {
				numbers(&in)
			}
			if got := Case(in); got.Verdict != tt.want {
				t.Errorf("%s: got %s (%s) [%s], want %s", tt.reason, got.Verdict, got.Detail, told(in.Rules, got.Findings), tt.want)
			}
		})
	}
}

func TestOtherEndpoint(t *testing.T) {
	const rule = "key-shared-across-endpoints"
	hidden := scenarios.Expectation{Hidden: []string{"there"}, Rule: rule}
	accepted := scenarios.Expectation{Accepted: []string{"there"}, Rule: rule}
	refused := scenarios.Expectation{Refused: []string{"there"}, Rule: rule}
	scope := func(s string) func(*trace.Facts) { return func(f *trace.Facts) { f.EndpointScope = s } }
	there := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A/other").under("A", "here", order(7)).under("A/other", "there", a).counted("after", 1, 0)
		}
	}
	only := func(e ...scenarios.Expectation) *scenarios.Scenario { return script([]string{"here", "there"}, e...) }
	refund := reply(201, `{"id":"ref_5"}`, "Location: /refunds/ref_5")
	judgeForms(t, []formCase{
		{"a refund", only(hidden, accepted), nil, there(refund), trace.Pass, "", "", "a request of its own"},
		{"the order", only(hidden, accepted), nil, there(order(7)), trace.Fail, rule, "", "the first answer"},
		{"the order, documented", only(hidden), scope("none"), there(order(7)), trace.Skip, "", trace.NotApplicable, "nothing is asserted"},
		{"the order, documented, more asked", only(hidden, scenarios.Expectation{Created: &scenarios.Created{N: 1}, Rule: "duplicate-creation"}), scope("none"), there(order(7)), trace.Pass, "", "", "effects still are"},
		{"a refund that shows the order", only(hidden), nil, there(reply(201, `{"id":"ref_5","of":"ord_7"}`)), trace.Pass, "", "", "the same caller may see it"},
		{"refused and told", only(hidden), nil, there(reply(422, `{"id":"ord_7"}`)), trace.Pass, "", "", "it may say why"},
		{"refused", only(accepted), nil, there(mismatch), trace.Pass, "", "", "a key used for the one is not good for the other"},
		{"refused, checked", only(accepted), scope("checked"), there(mismatch), trace.Pass, "", "", "as documented"},
		{"refused, independent", only(accepted), scope("independent"), there(mismatch), trace.Fail, rule, "", "documented as a request of its own"},
		{"accepted, checked", only(refused), scope("checked"), there(refund), trace.Fail, rule, "", "documented as refused"},
		{"accepted, not documented", only(refused), nil, there(refund), trace.Pass, "", "", "either is right"},
		{"crashes", only(accepted, scenarios.Expectation{Never: trace.ClassFailed, Rule: "server-error-on-retry"}), nil, there(broken), trace.Fail, "server-error-on-retry", "", "an error is no answer of the first"},
		{"counted apart", only(scenarios.Expectation{Created: &scenarios.Created{PerKey: true}, Rule: "duplicate-creation"}), nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A/other").under("A", "here", order(7)).under("A/other", "there", refund).counted("after", 1, 1)
		}, trace.Pass, "", "", "what the other endpoint did is not counted"},
		{"counted apart, twice here", only(scenarios.Expectation{Created: &scenarios.Created{PerKey: true}, Rule: "duplicate-creation"}), nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A/other").under("A", "here", order(7)).under("A/other", "there", refund).counted("after", 2, 0)
		}, trace.Fail, "duplicate-creation", "", "one key of the endpoint itself, two effects"},
		{"counted together", only(scenarios.Expectation{Created: &scenarios.Created{N: 1}, Rule: "duplicate-creation"}), nil, func(s *scenarios.Scenario) *recorder {
			r := among(s, "A", "A/other").under("A", "here", order(7)).under("A/other", "there", refund).counted("after", 2, 0)
			for i := range r.round.Readings {
				vs := r.round.Readings[i].Values
				r.round.Readings[i].Values = []trace.Value{vs[0], vs[2]}
				for j := range r.round.Readings[i].Values {
					r.round.Readings[i].Values[j].Scopes = []string{"A", "A/other"}
				}
			}
			return r
		}, trace.Inconclusive, "", trace.CounterNoise, "nobody knows whose effect the second one is"},
	})
}

// TestOwnScope holds that a shared key makes no copies: another caller's 409 is a refusal, and concludes nothing.
func TestOwnScope(t *testing.T) {
	s := script([]string{"first", "theirs"}, scenarios.Expectation{Accepted: []string{"theirs"}, Rule: "key-blocks-other-caller"})
	judgeForms(t, []formCase{
		{"refused", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", order(7)).under("A@other", "theirs", conflict).counted("after", 1, 0)
		}, trace.Fail, "key-blocks-other-caller", "", "no conflict of one operation"},
		{"refused at the same time", s, nil, func(s *scenarios.Scenario) *recorder {
			r := among(s, "A", "A@other").under("A", "first", order(7).slow(100*ms))
			r.exchange("theirs", 0, 0, "A@other", r.round.Exchanges[0].Started+ms, conflict)
			return r.counted("after", 1, 0)
		}, trace.Fail, "key-blocks-other-caller", "", "not in progress: theirs is no copy"},
	})
	each := script([]string{"first", "second"}, scenarios.Expectation{Created: &scenarios.Created{PerKey: true, Below: "empty-key-shared"}, Rule: "duplicate-creation"},
		scenarios.Expectation{Distinct: []string{"first", "second"}, Rule: "empty-key-shared"})
	empty := func(second answer, n ...int64) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "E", "F").under("E", "first", order(7)).under("F", "second", second).counted("after", n...)
		}
	}
	judgeForms(t, []formCase{
		{"two empty keys", each, nil, empty(order(8), 1, 1), trace.Pass, "", "", "two requests, two effects"},
		{"two empty keys, one answer", each, nil, empty(order(7), 1, 0), trace.Fail, "empty-key-shared", "", "one of them was swallowed"},
		{"two empty keys, one refused", each, nil, empty(reply(400, `{}`), 1, 0), trace.Pass, "", "", "a refused one owes no effect"},
		{"one empty key, two effects", each, nil, empty(order(8), 2, 1), trace.Fail, "duplicate-creation", "", "more effects than letters"},
	})
}

// TestEndpointNumbers holds that two endpoints may count alike.
func TestEndpointNumbers(t *testing.T) {
	s := script([]string{"here", "there"}, scenarios.Expectation{Hidden: []string{"there"}, Rule: "key-shared-across-endpoints"})
	at := func(n int, place string) answer {
		return reply(201, numbered(n).response.Body.Text, "Location: "+place)
	}
	tests := []struct {
		name        string
		here, there answer
		want        trace.Verdict
		reason      string
	}{
		{"equal numbers, other answer", numbered(7), reply(201, `{"id":7,"amount":5}`), trace.Pass, "a refund of its own"},
		{"equal answers", numbered(7), numbered(7), trace.Inconclusive, "both may have been the seventh"},
		{"other number", numbered(7), numbered(8), trace.Pass, "no replay"},
		{"equal places", at(7, "/orders/7"), at(7, "/orders/7"), trace.Fail, "there is no refund at the order's place"},
		{"other places", at(7, "/orders/7"), at(7, "/refunds/7"), trace.Pass, "a place of its own"},
		{"nothing shown", numbered(7), reply(204, ""), trace.Pass, "no answer of anybody"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := input(t, "same-key-again", facts(), among(s, "A", "A/other").under("A", "here", tt.here).under("A/other", "there", tt.there).counted("after", 1, 0))
			in.Scenario = s
			numbers(&in)
			if firstHeader(tt.here.response.Headers, "Location") != "" {
				in.Control.Learned.CreationFields = append(in.Control.Learned.CreationFields, fieldLocation)
			}
			if got := Case(in); got.Verdict != tt.want {
				t.Errorf("%s: got %s (%s) [%s], want %s", tt.reason, got.Verdict, got.Detail, told(in.Rules, got.Findings), tt.want)
			}
		})
	}
}

// TestOtherCallers holds that nobody is accused because of what a caller may not do, or a counter may not see.
func TestOtherCallers(t *testing.T) {
	s := script([]string{"first", "theirs"}, scenarios.Expectation{Accepted: []string{"theirs"}, Rule: "key-blocks-other-caller"},
		scenarios.Expectation{Created: &scenarios.Created{PerKey: true, Below: "key-shared-across-callers"}, Rule: "duplicate-creation"})
	theirs := func(a answer, n ...int64) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A", "A@other").under("A", "first", order(7)).under("A@other", "theirs", a).counted("after", n...)
		}
	}
	judgeForms(t, []formCase{
		{"both counted", s, nil, theirs(order(8), 1, 1), trace.Pass, "", "", "one each"},
		{"swallowed", s, nil, theirs(order(7), 1, 0), trace.Fail, "key-shared-across-callers", "", "the first one's answer, and no effect"},
		{"not seen", s, nil, theirs(order(8), 1, 0), trace.Inconclusive, "", trace.Assumption, "the counter may be blind for others"},
		{"forbidden", s, nil, theirs(reply(403, `{}`), 1, 0), trace.Inconclusive, "", trace.Auth, "perhaps they may never order"},
		{"created twice", s, nil, theirs(order(8), 2, 1), trace.Fail, "duplicate-creation", "", "more than one each"},
		{"created twice, theirs refused", script([]string{"first", "theirs"}, s.Expect[1]), nil, theirs(conflict, 2, 0), trace.Fail, "duplicate-creation", "", "no more than two in all, and two for one key"},
	})
	nobody := script([]string{"first", "nobody"}, scenarios.Expectation{Created: &scenarios.Created{PerKey: true, Below: "key-shared-across-callers"}, Rule: "duplicate-creation"},
		scenarios.Expectation{Hidden: []string{"nobody"}, Rule: "key-shared-across-callers"})
	nobody.Steps[1].Send.Caller = scenarios.CallerAnonymous
	for _, tt := range []struct {
		answer answer
		want   trace.Verdict
		detail string
		reason string
	}{
		{reply(200, `{"please":"log in"}`), trace.Inconclusive, "`nobody` had no credentials and was answered with success, yet nothing was done for it (orders rose by 1, expected 2", "no counter is to blame"},
		{order(7), trace.Fail, "", "the first one's answer"},
		{reply(401, `{}`), trace.Pass, "", "refused"},
		{lost(trace.PhaseTLS, trace.NoCertificate+": remote error: tls: certificate required"), trace.Pass, "", "not let in without a certificate"},
		{lost(trace.PhaseAnswer, trace.NoCertificate+": connection reset by peer"), trace.Pass, "", "the same, after the request was written"},
		{lost(trace.PhaseTLS, "remote error: tls: handshake failure"), trace.Inconclusive, "", "nobody knows why"},
	} {
		r := among(nobody, "A", "A@anonymous").under("A", "first", order(7)).under("A@anonymous", "nobody", tt.answer).counted("after", 1, 0)
		in := input(t, "same-key-again", facts(), r)
		in.Scenario = nobody
		if got := Case(in); got.Verdict != tt.want || !strings.Contains(got.Detail, tt.detail) || strings.Contains(got.Detail, "the counter") {
			t.Errorf("%s: got %s (%s), want %s with %q", tt.reason, got.Verdict, got.Detail, tt.want, tt.detail)
		}
	}
	may := script([]string{"base", "first", "theirs"}, scenarios.Expectation{Accepted: []string{"theirs"}, Rule: "key-blocks-other-caller"})
	judgeForms(t, []formCase{{"forbidden with this key", may, nil, func(s *scenarios.Scenario) *recorder {
		return among(s, "A", "B@other", "A@other").under("B@other", "base", order(6)).under("A", "first", order(7)).under("A@other", "theirs", reply(403, `{}`)).counted("after", 1, 1)
	}, trace.Fail, "key-blocks-other-caller", "", "they may order, but not with this key"}})
}
