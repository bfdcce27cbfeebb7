package scenarios

import (
	"errors"
	"strings"
	"testing"

	"retrysafe/internal/strict"
)

// base is a sound scenario with a step and an expectation more, in lines 7 and 9 (8 without the step).
func base(step, expect string) string {
	text := "id: a\ntitle: T\nabout: A\nrounds: 1\nsteps:\n  - send: {key: A, as: first}\n"
	if step != "" {
		text += step + "\n"
	}
	text += "expect:\n  - {created: 1, rule: key-ignored}\n"
	if expect != "" {
		text += expect + "\n"
	}
	return text
}

// keyed is base with forms of keys in line 4.
func keyed(forms string) string {
	return strings.Replace(base("", ""), "rounds:", "keys: {"+forms+"}\nrounds:", 1)
}

// twoKeys is keyed with a send under B.
func twoKeys(forms string) string {
	return strings.Replace(keyed(forms), "expect:", "  - send: {key: B}\nexpect:", 1)
}

func TestMistakes(t *testing.T) {
	rules := ruleIDs(t)
	for _, c := range []struct{ reason, text, want string }{
		{"empty", "", "s:1:1: the file is empty"},
		{"id", strings.Replace(base("", ""), "id: a", "id: A b", 1), "s:1:5: expected an id of small letters, digits and -, found \"A b\"\n1 | id: A b\n  |     ^~~"},
		{"no title", strings.Replace(base("", ""), "title: T\n", "", 1), "s:1:1: missing field \"title\""},
		{"no text", strings.Replace(base("", ""), "about: A", "about: ' '", 1), "s:3:8: expected text, found nothing"},
		{"unknown field", strings.Replace(base("", ""), "rounds:", "key: {}\nrounds:", 1), "s:4:1: unknown field \"key\""},
		{"kind", strings.Replace(base("", ""), "rounds:", "applies: {kind: [creat]}\nrounds:", 1), "s:4:18: expected create, method or webhook, found \"creat\"; did you mean \"create\"?"},
		{"need", strings.Replace(base("", ""), "rounds:", "needs: [otherbody]\nrounds:", 1), "s:4:9: expected key, other_body, invalid_body, reordered_body, nested_body, body, fail, key_lifetime, required, fresh_key_creates, counter, state, " +
			"credentials, other_caller, renewable_caller, other_endpoint, other_query, replicas, double_click_one, retry_window, stores_4xx_no, stores_5xx_no, account_scope, lifetime_fits_wait, " +
			"expire, restart, crash, break, hold or reset, found \"otherbody\"; did you mean \"other_body\"?"},
		{"need of nothing", strings.Replace(base("", ""), "rounds:", "needs: [[]]\nrounds:", 1), "s:4:9: expected one of key, other_body,"},
		{"rounds", strings.Replace(base("", ""), "rounds: 1", "rounds: 101", 1), "s:4:9: expected a number from 1 to 100, found \"101\""},
		{"rounds in words", strings.Replace(base("", ""), "rounds: 1", "rounds: many", 1), "s:4:9: expected adaptive or a number of rounds from 1 to 100, found \"many\""},
		{"adaptive control", strings.Replace(base("", ""), "rounds: 1", "control: true\nrounds: adaptive", 1), "s:5:9: expected a number of rounds for the control"},
		{"two forms of a step", base("  - {count: x, join: first}", ""), "s:7:16: expected one step, found both count and join"},
		{"no form of a step", base("  - {}", ""), "s:7:5: expected a step: send, volley, wait, hook, count, join or planted"},
		{"unknown form of a step", base("  - {sned: {key: A}}", ""), "s:7:5: expected a step: send, volley, wait, hook, count, join or planted"},
		{"no key", base("  - send: {as: x}", ""), "s:7:11: missing field \"key\""},
		{"key in small letters", base("  - send: {key: a}", ""), "s:7:17: expected a capital letter, none or fresh, found \"a\"\n7 |   - send: {key: a}\n  |                 ^"},
		{"fresh without a letter", strings.Replace(base("", ""), "key: A", "key: fresh", 1), "s:6:17: `fresh` takes body, marker and set-up from the first letter, and none was sent before"},
		{"body", base("  - send: {key: A, body: wrong}", ""), "s:7:26: expected original, other, fail, invalid, reordered or nested, found \"wrong\""},
		{"several bodies at once", base("  - send: {key: A, body: nested, together: 2}", ""),
			"s:7:26: `body: nested` stands for several bodies, of which one request each is sent: send it by itself"},
		{"caller", base("  - send: {key: A, caller: second}", ""), "s:7:28: expected first, other, anonymous, renewed, impostor or stripped, found \"second\""},
		{"alone together", base("  - send: {key: A, together: 1}", ""), "s:7:30: expected a number from 2 to 1000, found \"1\""},
		{"too often", base("  - send: {key: A, times: 101}", ""), "s:7:27: expected a number from 1 to 100, found \"101\""},
		{"together and one after another", base("  - send: {key: A, together: 2, times: 2}", ""), "s:7:40: `together` and `times` do not go together: copies are released together or sent one after another"},
		{"a client that left waits", base("  - send: {key: A, cut: {at: sent}, until: final}", ""), "s:7:44: `cut` and `until` do not go together: a client that left sees no answer"},
		{"until", base("  - send: {key: A, until: done}", ""), "s:7:27: expected final, found \"done\""},
		{"cut point", base("  - send: {key: A, cut: {at: body}}", ""), "s:7:30: expected headers, half-body, sent or answer, found \"body\""},
		{"cut without a point", base("  - send: {key: A, cut: {by: reset}}", ""), "s:7:25: missing field \"at\""},
		{"label twice", base("  - send: {key: A, as: first}", ""), "s:7:24: duplicate label \"first\": choose another name\n7 |   - send: {key: A, as: first}\n  |                        ^~~~~"},
		{"background without a label", base("  - send: {key: A, background: true}", ""), "s:7:32: a background send needs a label for `join`"},
		{"never joined", base("  - send: {key: A, background: true, as: x}", ""), "s:6:3: background send \"x\" is never joined: add `join: x`"},
		{"join of what is not open", base("  - join: first", ""), "s:7:11: unknown background send \"first\" (known: none)"},
		{"volley of one", base("  - volley: [{key: A}]", ""), "s:7:13: expected 2 to 1000 requests to release together, found 1"},
		{"burst in a volley", base("  - volley: [{key: A, together: 2}, {key: A}]", ""), "s:7:23: unknown field \"together\" (known: key, body, caller, endpoint, query, replica, noise, cut, as)"},
		{"wait without a unit", base("  - wait: 5", ""), "s:7:11: expected a duration with a unit, found \"5\": write 5s, 5ms or 5m"},
		{"wait for two things", base("  - wait: {expiry: 1, handling: 1}", ""), "s:7:23: expected one share, found both expiry and handling"},
		{"planted key sent before", base("  - planted: {key: A, from: 0.5, as: old}", ""), "s:7:20: key A was sent under before: a planted key comes first"},
		{"planted from after to", base("  - planted: {key: B, from: 0.5, to: 0.4, as: old}", ""), "s:7:38: expected a share of the lifetime above `from`, 0.5, found 0.4"},
		{"planted without a label", base("  - planted: {key: B, from: 0.5}", ""), "s:7:14: missing field \"as\""},
		{"planted under no letter", base("  - planted: {key: none, from: 0.5, as: old}", ""), "s:7:20: expected a capital letter, found \"none\""},
		{"wait for nobody's key", base("  - wait: {expiry: 1, of: B}", ""), "s:7:27: no send before uses key \"B\" (known: A)"},
		{"wait without a key", base("  - wait: {expiry: 1}", ""), "s:7:11: missing field \"of\""},
		{"share of nothing", base("  - wait: {handling: 0}", ""), "s:7:22: expected a number above 0 and up to 100, found \"0\""},
		{"handling of a key", base("  - wait: {handling: 1, of: A}", ""), "s:7:29: `of` belongs to `expiry`: remove it"},
		{"hook", base("  - hook: {run: explode}", ""), "s:7:17: expected expire, restart, crash, break, heal, hold, release or reset, found \"explode\""},
		{"hook without a key", base("  - hook: {run: expire}", ""), "s:7:11: missing field \"key\""},
		{"hook never undone", base("  - hook: {run: break}", ""), "s:6:3: hook break is never undone: add `hook: {run: heal}`"},
		{"hook undone without need", base("  - hook: {run: release}", ""), "s:7:17: hook release undoes hold, and no step before runs that"},
		{"hook twice", base("  - hook: {run: hold}\n  - hook: {run: hold}\n  - hook: {run: release}", ""), "s:8:17: hook hold runs already: add `hook: {run: release}` before"},
		{"endpoint", base("  - send: {key: A, endpoint: refunds}", ""), "s:7:30: expected other, found \"refunds\""},
		{"body of the other endpoint", base("  - send: {key: A, endpoint: other, body: other}", ""), "s:7:43: the other endpoint is sent its own body: remove `body`"},
		{"query of the other endpoint", base("  - send: {key: A, endpoint: other, query: other}", ""), "s:7:44: `endpoint` and `query` do not go together: the other query belongs to the endpoint itself"},
		{"replica", base("  - send: {key: A, replica: 0}", ""), "s:7:29: expected a number from 1 to 9, found \"0\""},
		{"every alone", base("  - send: {key: A, every: 5ms}", ""), "s:7:27: `every` is the time from one copy to the next: add `times: N` with N of 2 or more"},
		{"every until", base("  - send: {key: A, times: 2, every: 5ms, until: final}", ""), "s:7:49: `every` and `until` do not go together: copies on schedule come back as `retry_after: honoured` says; send once more with `until: final` after them"},
		{"jitter of nothing", base("  - send: {key: A, times: 2, jitter: 0.5}", ""), "s:7:38: `jitter` is for copies on schedule: add `times: N` and `every: 10ms`"},
		{"too much jitter", base("  - send: {key: A, times: 2, every: 5ms, jitter: 1.5}", ""), "s:7:50: expected a number above 0 and up to 1, found \"1.5\""},
		{"Retry-After of one", base("  - send: {key: A, retry_after: honoured}", ""), "s:7:33: `retry_after` is for copies on schedule: add `times: N` and `every: 10ms`"},
		{"Retry-After ignored", base("  - send: {key: A, times: 2, every: 5ms, retry_after: ignored}", ""), "s:7:55: expected honoured, found \"ignored\""},
		{"every in a volley", base("  - volley: [{key: A, every: 5ms}, {key: A}]", ""), "s:7:23: unknown field \"every\""},
		{"fresh for another caller", base("  - send: {key: fresh, caller: other}", ""), "s:7:17: `fresh` is for the first caller and the endpoint itself: name a letter"},
		{"fresh after another caller", strings.Replace(base("  - send: {key: fresh}", ""), "key: A, as", "key: A, caller: other, as", 1), "s:7:17: `fresh` takes body, marker and set-up from the first letter, A, which the first caller did not send to the endpoint itself before"},
		{"form of small letters", keyed("a: {length: 5}"), "s:4:8: expected a capital letter, found \"a\"\n4 | keys: {a: {length: 5}}\n  |        ^"},
		{"no keys", keyed(""), "s:4:7: expected the forms of letters, found an empty mapping"},
		{"no form", keyed("A: {}"), "s:4:11: expected a form: none, text, length, like, first, case, quoted, lines"},
		{"unknown form", keyed("A: {size: 5}"), "s:4:12: unknown field \"size\" (known: none, text, length, like, first, case, quoted, lines)"},
		{"key never sent", keyed("B: {length: 5}"), "s:4:8: key B is never sent: remove its form, or send under it"},
		{"like what is never sent", keyed("A: {like: B, first: 5}"), "s:4:8: key A is like B, which is never sent"},
		{"like itself", keyed("A: {like: A, first: 5}"), "s:4:18: key A cannot be like itself: name another letter"},
		{"like no letter", keyed("A: {like: none, first: 5}"), "s:4:18: expected a capital letter, found \"none\""},
		{"like in everything", twoKeys("A: {like: B}"), "s:4:11: a key that is like B differs from it in something: add `first`, `case`, `quoted` or `lines`"},
		{"like a chain", strings.Replace(twoKeys("A: {like: B, first: 5}, B: {like: C, first: 5}"), "{key: B}", "{key: B}\n  - send: {key: C}", 1), "s:4:18: key B is itself like C: name a letter that is like none"},
		{"like nothing", twoKeys("A: {like: B, first: 5}, B: {none: true}"), "s:4:18: requests of B carry no key: name another letter"},
		{"like a text", twoKeys("A: {like: B, first: 5}, B: {text: x}"), "s:4:18: key B is a fixed text: name a letter whose key is drawn"},
		{"none with a form", keyed("A: {none: true, length: 5}"), "s:4:32: `none` and `length` do not go together: a key that is not sent has no form"},
		{"text with a length", keyed("A: {text: x, length: 5}"), "s:4:29: `text` and `length` do not go together: the text is the whole key"},
		{"text on two lines", keyed(`A: {text: "x\ny"}`), "s:4:18: expected a text without control characters, found \"x\\ny\""},
		{"text with a placeholder", keyed(`A: {text: "{{uuid}}"}`), "s:4:18: expected no placeholder but {{key}}, found \"{{uuid}}\""},
		{"case and a beginning", twoKeys("A: {like: B, case: upper, first: 5}"), "s:4:41: `case` and `first` do not go together: another case keeps the whole key"},
		{"case of nothing", keyed("A: {case: upper}"), "s:4:18: `case` is about another key: add `like: LETTER`"},
		{"case", twoKeys("A: {like: B, case: title}"), "s:4:27: expected upper or lower, found \"title\""},
		{"nothing differs", twoKeys("A: {like: B, first: 36}"), "s:4:28: expected fewer than the 36 characters of the key, found 36: nothing would differ"},
		{"one line", keyed("A: {lines: 1}"), "s:4:19: expected a number from 2 to 10, found \"1\""},
		{"expiry of no key", strings.Replace(keyed("A: {none: true}"), "expect:", "  - wait: {expiry: 1, of: A}\nexpect:", 1), "s:8:27: requests of A carry no key: name another letter"},
		{"method", strings.Replace(base("", ""), "rounds:", "applies: {method: [Delete]}\nrounds:", 1), "s:4:20: expected GET, POST, PUT, PATCH or DELETE, found \"Delete\""},
		{"on what", strings.Replace(onControl, "control", "plan", 1), "s:4:5: expected control, found \"plan\""},
		{"on control with rounds", strings.Replace(onControl, "expect", "rounds: 1\nexpect", 1), "s:5:9: `on: control` sends nothing of its own: remove `rounds`"},
		{"on control with answers", onControl + "  - {created: 1, rule: key-ignored}\n", "s:7:6: `on: control` sends nothing of its own: expected outlives, found created"},
		{"one of one", base("", "  - {one_of: [first], rule: key-ignored}"), "s:9:14: expected at least two labels, found one: they are compared with each other"},
		{"unchanged since when", base("", "  - {unchanged: {}, rule: key-ignored}"), "s:9:17: missing field \"since\""},
		{"unchanged the wrong way round", base("  - count: x\n  - count: y", "  - {unchanged: {since: y, until: x}, rule: key-ignored}"), "s:11:35: expected a reading after \"y\", found \"x\""},
		{"since of another form", base("  - count: x", "  - {unchanged: {since: x}, since: x, rule: key-ignored}"), "s:10:36: `since` belongs to `created`: remove it"},
		{"outlives what", base("", "  - {outlives: lifetime, rule: key-ignored}"), "s:9:16: expected retry_window, found \"lifetime\""},
		{"no rule of a new form", base("", "  - {hidden: [first]}"), "s:9:5: missing field \"rule\""},
		{"reading that exists", base("  - count: after", ""), "s:7:12: \"after\" is a reading that every round has: choose another name"},
		{"reading twice", base("  - count: x\n  - count: x", ""), "s:8:12: duplicate reading \"x\": choose another name"},
		{"unknown rule", base("", "  - {never: failed, rule: server-eror-on-retry}"), "s:9:27: unknown rule \"server-eror-on-retry\"; did you mean \"server-error-on-retry\"?"},
		{"unknown rule below", base("", "  - {created: 1, below: nothing, rule: key-ignored}"), "s:9:25: unknown rule \"nothing\""},
		{"no rule", base("", "  - {accepted: [first]}"), "s:9:5: missing field \"rule\"\n9 |   - {accepted: [first]}\n  |     ^"},
		{"rule in an assumption", base("", "assume: [{accepted: [first], rule: key-ignored}]"), "s:9:30: unknown field \"rule\""},
		{"two forms of an expectation", base("", "  - {same: [first], accepted: [first], rule: key-ignored}"), "s:9:21: expected one expectation, found both same and accepted"},
		{"no form of an expectation", base("", "  - {rule: key-ignored}"), "s:9:5: expected an expectation: created, same, distinct, refused, accepted, failed, hidden, one_of, alike, answered, consistent, unchanged, outlives or never"},
		{"unknown label", base("", "  - {same: [frist]}"), "s:9:13: unknown label \"frist\"; did you mean \"first\"? (known: first)\n9 |   - {same: [frist]}\n  |             ^~~~~"},
		{"no labels", base("", "  - {same: []}"), "s:9:12: expected labels of sends, found an empty list"},
		{"unknown label of", base("", "  - {never: failed, of: [x], rule: key-ignored}"), "s:9:26: unknown label \"x\" (known: first)"},
		{"unknown class", base("", "  - {never: error, rule: key-ignored}"), "s:9:13: expected none, busy, intermediary, success, in-progress, refused or failed, found \"error\""},
		{"unknown reading", base("  - count: half", "  - {created: 1, since: hlaf, rule: key-ignored}"), "s:10:25: unknown reading \"hlaf\"; did you mean \"half\"? (known: half)"},
		{"readings the wrong way round", base("  - count: x\n  - count: y", "  - {created: 1, since: y, until: x, rule: key-ignored}"), "s:11:35: expected a reading after \"y\", found \"x\""},
		{"number of effects", base("", "  - {created: -1, rule: key-ignored}"), "s:9:15: expected a number from 0 to 1000, found \"-1\""},
		{"effects in words", base("", "  - {created: once, rule: key-ignored}"), "s:9:15: expected per-key, found \"once\""},
		{"field of another form", base("", "  - {same: [first], as: mismatch}"), "s:9:25: `as` belongs to `refused`: remove it"},
		{"refusal", base("", "  - {refused: [first], as: conflict, rule: key-ignored}"), "s:9:28: expected mismatch or missing_key, found \"conflict\""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := set{rules: rules}
			s.add("s", []byte(c.text))
			_, err := s.result()
			var mistakes strict.Errors
			if !errors.As(err, &mistakes) || !strings.HasPrefix(mistakes.Pretty(), c.want) {
				t.Errorf("got\n%s\nwant\n%s", mistakes.Pretty(), c.want)
			}
			if len(mistakes) != 1 && c.reason != "empty" && c.reason != "unknown form of a step" {
				t.Errorf("expected one mistake:\n%s", mistakes.Pretty())
			}
		})
	}
}
