package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"retrysafe/internal/trace"
)

const (
	// mostNamed is up to how many bytes of a body secrets are looked for by their names: requests that carry one are short, and large
	// answers are files.
	mostNamed = 64 << 10
	// mostEchoed is how many secrets of a body are looked for elsewhere.
	mostEchoed = 16
)

var (
	member = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(\s*:\s*)("(?:[^"\\]|\\.)*")`)
	// nested is a text of JSON that is JSON itself: no text ends in front of a bracket that opens.
	nested = regexp.MustCompile(`"\s*[{\[](?:[^"\\]|\\.)*"`)
	// query is that of a URL within a text, JSON or not; userinfo is in front of its host.
	query    = regexp.MustCompile(`\?(?:[^\s"<>\\]|\\u0026)+`)
	userinfo = regexp.MustCompile(`(:(?://|\\/\\/)[^\s"<>\\/@:]*:)([^\s"<>\\/@]+)@`)
	// marked is a text that is drawn for a scope, as engine makes markers: judging looks for it.
	marked = regexp.MustCompile(`rs[a-z2-7]{24}`)
)

// Link is a URL, or a text with one at its end, with every secret replaced, and what parameters carry by their names.
func (r *Redactor) Link(text string) string { return r.String(r.link(text, "", true)) }

// Text is a part of an answer with every secret replaced, as it is replaced in the answer: also what links carry by names.
func (r *Redactor) Text(text string) string { return r.String(r.links(text, "")) }

// link replaces the values of parameters that carry credentials by their names, everywhere from then on where they are to be known.
// The idempotency key and markers stay.
func (r *Redactor) link(raw, key string, everywhere bool) string {
	before, query, found := strings.Cut(raw, "?")
	if !found {
		return raw
	}
	fragment := ""
	if i := strings.IndexByte(query, '#'); i >= 0 {
		query, fragment = query[:i], query[i:]
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, value, _ := strings.Cut(pair, "="); trace.CarriesCredential(name) || strings.EqualFold(name, "sig") {
			pairs[i] = name + strings.TrimPrefix(pair, name)[:len(pair)-len(name)-len(value)] + r.unescaped(value, key, everywhere)
		}
	}
	return before + "?" + strings.Join(pairs, "&") + fragment
}

// links replaces what URLs within an answer carry, in place: parameters by their names, and passwords in front of hosts. An answer may name
// a thing by what a link carries; were that replaced elsewhere from then on, it would differ from the same answer before.
func (r *Redactor) links(text, key string) string {
	text = userinfo.ReplaceAllStringFunc(text, func(whole string) string {
		parts := userinfo.FindStringSubmatch(whole)
		return parts[1] + r.unescaped(parts[2], key, false) + "@"
	})
	return query.ReplaceAllStringFunc(text, func(q string) string {
		if plain := strings.ReplaceAll(q, `\u0026`, "&"); plain != q {
			return strings.ReplaceAll(r.link(plain, key, false), "&", `\u0026`)
		}
		return r.link(q, key, false)
	})
}

// named replaces the values of members of JSON, of JSON that is a text in it too, and of fields of a form, that nobody may read by
// their names, and what links carry.
func (r *Redactor) named(b *trace.Body, key string) {
	if len(b.Text) > mostNamed {
		return
	}
	echoed := 0
	b.Text = member.ReplaceAllStringFunc(b.Text, func(whole string) string {
		parts := member.FindStringSubmatch(whole)
		var value string
		if !trace.IsSecret(parts[1]) || json.Unmarshal([]byte(parts[3]), &value) != nil || r.stays(value, key) {
			return whole
		}
		if echoed++; echoed <= mostEchoed {
			r.echo(value)
		}
		return `"` + parts[1] + `"` + parts[2] + `"` + r.inPlace(value) + `"`
	})
	b.Text = nested.ReplaceAllStringFunc(b.Text, func(quoted string) string {
		var inner trace.Body
		if json.Unmarshal([]byte(quoted), &inner.Text) != nil {
			return quoted
		}
		before := inner.Text
		if r.named(&inner, key); inner.Text == before {
			return quoted
		}
		return `"` + jsonOnce(inner.Text)[0] + `"`
	})
	b.Text = r.links(b.Text, key)
	if text := strings.TrimSpace(b.Text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return
	}
	fields := strings.Split(b.Text, "&")
	for i, f := range fields {
		if name, value, ok := strings.Cut(f, "="); ok && trace.IsSecret(name) {
			fields[i] = name + "=" + r.unescaped(value, key, true)
		}
	}
	b.Text = strings.Join(fields, "&")
}

// unescaped is a value of a URL or a form, replaced.
func (r *Redactor) unescaped(value, key string, everywhere bool) string {
	plain, err := url.QueryUnescape(value)
	if err != nil || r.stays(plain, key) {
		return value
	}
	if everywhere {
		r.echo(plain)
	}
	return r.inPlace(plain)
}

// stays is true for what a run needs to read, and for what was replaced or stands elsewhere.
func (r *Redactor) stays(value, key string) bool {
	return value == "" || key != "" && strings.Contains(value, key) || marked.MatchString(value) || strings.Contains(value, "{{") || numbered.MatchString(value)
}

// echo makes a value a secret wherever it stands, where it is long and mixed enough to be nothing else. A word or a number that is a
// password in one place is a word or a number in others.
func (r *Redactor) echo(value string) {
	digits := strings.ContainsAny(value, "0123456789")
	letters := strings.ContainsFunc(value, func(c rune) bool { return c < '0' || c > '9' })
	if len(value) >= 16 && letters || len(value) >= 12 && letters && digits {
		r.Add(value)
	}
}

// inPlace is the token of a value, which is not looked for anywhere else.
func (r *Redactor) inPlace(value string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token(value)
}
