package requests

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/draft"
)

// splitHeaders parts credentials from what the API wants to know, and takes out what clients add.
func (b *builder) splitHeaders(s *sent) {
	if s.user == "" {
		s.user = unescape(s.addr.user)
	}
	if user := b.vault.basicUser(s.user); user != "" && s.header("Authorization") == "" {
		s.credentials = append(s.credentials, pair{"Authorization", user})
	}
	for _, h := range s.headers {
		name := strings.ToLower(h.name)
		if name == "proxy-authorization" {
			b.vault.authorization(h.value)
			continue
		}
		if isTransport(name) || strings.TrimSpace(h.value) == "" {
			continue
		}
		if !usableHeader(h) {
			s.note("header %q cannot stand in a plan, and is left out", oneLine(h.name))
			continue
		}
		list, value := &s.credentials, h.value
		switch {
		case isKeyHeader(name):
			list = &s.plain
			b.keyHeader = cmp.Or(b.keyHeader, h.name)
		case strings.HasSuffix(name, "authorization"):
			if perRequest.MatchString(value) {
				s.note("header %s holds a signature of the recorded request: another one needs its own", h.name)
			}
			value = b.vault.authorization(value)
		case name == "cookie":
			value = b.vault.cookie(value)
		case strings.Contains(name, "signature"):
			b.vault.hide(name, value)
			s.note("header %s was a signature of the recorded request, and is left out: see `webhook` in a plan", h.name)
			continue
		case secretName(name) || looksSecret(value) || equalFold(name, s.credential):
			value = b.vault.hide(strings.TrimPrefix(name, "x-"), value)
		default:
			list, value = &s.plain, b.vault.text(value)
		}
		if slices.ContainsFunc(*list, func(p pair) bool { return equalFold(p.name, h.name) }) {
			continue
		}
		*list = append(*list, pair{h.name, value})
	}
}

// callers makes callers of the credentials of unsafe requests. In a session all are those of one client.
func (b *builder) callers() {
	var sets [][]pair
	for _, s := range b.sent {
		if len(s.credentials) == 0 || s.addr.base != b.base && b.session {
			continue
		}
		s.callerOf = slices.IndexFunc(sets, func(set []pair) bool { return slices.Equal(set, s.credentials) })
		switch {
		case s.callerOf >= 0:
		case b.session && len(sets) == 1:
			s.callerOf = 0
			sets[0] = union(sets[0], s.credentials)
		case len(sets) == 0 || sameNames(sets[0], s.credentials):
			s.callerOf = len(sets)
			sets = append(sets, s.credentials)
		}
	}
	for i, set := range sets {
		c := draft.Caller{Name: "caller", Comment: "credentials of " + b.name + ": export the variables"}
		if i > 0 {
			c.Name, c.Comment = "caller-"+strconv.Itoa(i+1), "other credentials of "+b.name+"; the second caller must not see what the first one gets"
		}
		for _, h := range set {
			c.Headers = append(c.Headers, draft.Header{Name: h.name, Value: draft.Text{Value: planText(h.value)}})
		}
		b.draft.Callers = append(b.draft.Callers, c)
	}
}

func union(set, more []pair) []pair {
	out := slices.Clone(set)
	for _, h := range more {
		if !hasName(out, h.name) {
			out = append(out, h)
		}
	}
	return out
}

func sameNames(a, b []pair) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(p pair) bool { return !hasName(a, p.name) })
}

func hasName(list []pair, name string) bool {
	return slices.ContainsFunc(list, func(p pair) bool { return equalFold(p.name, name) })
}

// otherCredentials are those of a request that the first caller does not send. A line that the caller sends too is the
// caller's, whatever stands in the request.
func (b *builder) otherCredentials(s *sent, e *draft.Endpoint) []draft.Header {
	var out []draft.Header
	if s.callerOf > 0 {
		e.Comments = append(e.Comments, "the source sends this with the credentials of "+b.draft.Callers[s.callerOf].Name+"; here the first caller sends it")
		return nil
	}
	for _, h := range s.credentials {
		if s.callerOf < 0 && len(b.draft.Callers) > 0 && !slices.ContainsFunc(b.draft.Callers[0].Headers, func(c draft.Header) bool { return equalFold(c.Name, h.name) }) {
			out = append(out, draft.Header{Name: h.name, Value: draft.Text{Value: planText(h.value)}})
		}
	}
	return out
}
