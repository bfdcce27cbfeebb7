package engine

import (
	"strings"
	"testing"

	"retrysafe/scenarios"
)

func TestKeyForms(t *testing.T) {
	empty, blank := "", "  "
	forms := map[string]scenarios.KeyForm{
		"B": {None: true},
		"C": {Text: &empty},
		"D": {Text: &blank},
		"E": {Length: 300},
		"F": {Like: "E", First: 64},
		"G": {Like: "A", Case: "upper"},
		"H": {Lines: 2},
		"I": {Like: "H", Lines: 2},
		"J": {Like: "A", Quoted: true},
	}
	key := map[string]*scope{}
	for _, l := range strings.Split("ABCDEFGHIJ", "") {
		key[l] = newScope("seed", letter(l), forms, "x")
	}
	for _, c := range []struct {
		reason string
		holds  bool
	}{
		{"a plain key is a UUID", len(key["A"].Key) == 36 && key["A"].keyed},
		{"none has no key", key["B"].Key == "" && !key["B"].keyed},
		{"an empty key is sent", key["C"].Key == "" && key["C"].keyed && len(key["C"].lines) == 1},
		{"a blank one too", key["D"].Key == "  " && key["D"].keyed},
		{"a long one is as long as asked", len(key["E"].Key) == 300},
		{"a shared beginning is shared", key["F"].Key[:64] == key["E"].Key[:64]},
		{"and the rest is not", len(key["F"].Key) == 300 && key["F"].Key[64:] != key["E"].Key[64:]},
		{"another case is the same but for that", key["G"].Key != key["A"].Key && strings.EqualFold(key["G"].Key, key["A"].Key)},
		{"two lines", len(key["H"].lines) == 2 && key["H"].Key == key["H"].lines[0]+", "+key["H"].lines[1]},
		{"two lines that share the first", key["I"].lines[0] == key["H"].lines[0] && key["I"].lines[1] != key["H"].lines[1]},
		{"quotes are not part of the key", key["J"].Key == key["A"].Key && key["J"].quoted},
		{"markers differ whatever the keys", key["G"].Marker != key["A"].Marker && key["J"].Marker != key["A"].Marker},
	} {
		if !c.holds {
			t.Errorf("%s: got %+v", c.reason, key)
		}
	}
}

// TestScopesShareKeys shows that other callers and the other endpoint are sent the key of the letter, under a marker of
// their own.
func TestScopesShareKeys(t *testing.T) {
	own := newScope("seed", letter("A"), nil, "x")
	for _, use := range []scenarios.ScopeUse{
		{Name: "A@other", Letter: "A", Caller: scenarios.CallerOther},
		{Name: "A/other", Letter: "A", Caller: scenarios.CallerFirst, Other: true},
	} {
		s := newScope("seed", use, nil, "x")
		if s.Key != own.Key || s.Marker == own.Marker || s.uuid == own.uuid || s.span == own.span {
			t.Errorf("%s: %+v", use.Name, s)
		}
	}
}

func TestKeyText(t *testing.T) {
	for _, c := range []struct {
		format string
		quoted bool
		want   string
	}{
		{"", false, `k`}, {"bare", false, `k`}, {"bare", true, `"k"`}, {"sf-string", false, `"k"`}, {"sf-string", true, `k`},
	} {
		if got := keyText(c.format, c.quoted, "k"); got != c.want {
			t.Errorf("%q quoted %v: got %s, want %s", c.format, c.quoted, got, c.want)
		}
	}
}

func TestHeaderLines(t *testing.T) {
	got, err := headerLines("Authorization: Bearer a:b\n\nX-Tenant:7\n")
	if err != nil || len(got) != 2 || got[0].Value != "Bearer a:b" || got[1].Name != "X-Tenant" || got[1].Value != "7" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "\n", "token", "a b: c"} {
		if _, err := headerLines(text); err == nil || strings.Contains(err.Error(), "token") {
			t.Errorf("%q: got %v, want an error that does not quote a secret", text, err)
		}
	}
}
