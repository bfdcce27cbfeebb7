package plan

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// leastSecret is the length from which a value counts as secret by itself: shorter ones, such as "test", "true" or
// a port, are part of too many other texts.
const leastSecret = 6

// leastListed is the length that a value in `secrets` must have: replacing shorter ones would garble the report.
const leastListed = 4

func (d *decoder) secretList(v strict.Value) {
	if k := v.Kind(); k == strict.String || k == strict.Number {
		v.Errorf("expected a list of secrets, found %s: put it into brackets", k)
		return
	}
	for _, item := range v.List() {
		t := secretText(item)
		if t.Pos() == (strict.Pos{}) {
			continue
		}
		if len([]rune(t.Value)) < leastListed {
			t.Errorf(0, len([]rune(t.Source())), "expected a secret of at least %d characters: a shorter one would be replaced all over the report", leastListed)
			continue
		}
		d.listed = append(d.listed, t.Value)
	}
}

// secretText is the text of a secret. What is no text is told without its value; its place is unknown then.
func secretText(v strict.Value) strict.Text {
	if k := v.Kind(); (k == strict.Number || k == strict.Boolean) && len(v.Variables()) == 0 {
		v.Errorf("expected text, found %s: quote it", k)
		return strict.Text{}
	}
	return v.Text()
}

// secrets are the values that must never show, the longest first, so that replacing them in order leaves no part
// of a longer one behind.
func (d *decoder) secrets() []string {
	found := d.literalSecrets()
	for _, v := range d.doc.Variables() {
		if v.FromEnv && !slices.Contains(d.public, v.Name) {
			found = d.addSecret(found, v.Value, leastSecret)
		}
	}
	slices.SortStableFunc(found, longestFirst)
	return found
}

// literalSecrets are those that the plan's own fields name, whether they stand in it or in a variable, as far as they could be read.
func (d *decoder) literalSecrets() []string {
	var found []string
	add := func(s string, least int) { found = d.addSecret(found, s, least) }
	for _, value := range d.plan.credentials() {
		add(value, leastSecret)
	}
	for _, e := range d.plan.Endpoints {
		if e.Webhook != nil {
			add(e.Webhook.Secret, leastListed)
			add(strings.TrimPrefix(e.Webhook.Secret, secretPrefix), leastSecret)
		}
	}
	for _, s := range d.plan.sqls() {
		for _, value := range s.Database.Secrets {
			add(value, leastListed)
		}
	}
	for _, value := range d.listed {
		add(value, leastListed)
	}
	return found
}

func (d *decoder) addSecret(found []string, s string, least int) []string {
	if len([]rune(s)) < least || slices.Contains(found, s) || d.isTarget(s) {
		return found
	}
	return append(found, s)
}

func longestFirst(a, b string) int { return len(b) - len(a) }

// hideLiteral keeps the plan's secrets out of the lines that mistakes and warnings quote, each line of those that have several.
func (d *decoder) hideLiteral() {
	var lines []string
	for _, secret := range d.literalSecrets() {
		for line := range strings.Lines(secret) {
			lines = d.addSecret(lines, strings.TrimSpace(line), leastListed)
		}
	}
	slices.SortStableFunc(lines, longestFirst)
	for _, line := range lines {
		d.doc.Hide(line)
	}
}

// isTarget is true for the target and the replicas, their hosts and ports, which are always shown.
func (d *decoder) isTarget(s string) bool {
	return slices.ContainsFunc(append([]string{d.plan.Target}, d.plan.Replicas...), func(base string) bool {
		u, err := url.Parse(base)
		return err == nil && (strings.TrimRight(s, "/") == base || s == u.Host || s == u.Hostname() || s == u.Port())
	})
}

// credentials are the header values of callers and passwords in their log-ins, and what other headers hold that carry
// credentials by their names.
func (p *Plan) credentials() []string {
	var found []string
	for _, c := range p.Callers {
		for _, h := range c.Headers {
			found = append(found, credentialsIn(h)...)
		}
		if c.Login != nil {
			found = append(found, c.Login.Body.passwords()...)
		}
	}
	carrying := func(headers []HeaderTemplate) {
		for _, h := range headers {
			if trace.CarriesCredential(h.Name) {
				found = append(found, credentialsIn(h)...)
			}
		}
	}
	for _, c := range p.Callers {
		if c.Login != nil {
			carrying(c.Login.Headers)
		}
	}
	for _, c := range p.Counters {
		if c.HTTP != nil {
			carrying(c.HTTP.Headers)
		}
	}
	for _, s := range p.States {
		carrying(s.Headers)
	}
	for _, e := range p.Endpoints {
		carrying(e.Headers)
		for _, s := range e.Setup {
			carrying(s.Headers)
		}
		if e.Cleanup != nil {
			carrying(e.Cleanup.Headers)
		}
	}
	return found
}

// credentialsIn are the secret parts of a header's value: behind a scheme such as Bearer, the two halves of
// Basic too.
func credentialsIn(h HeaderTemplate) []string {
	if len(h.Value.Placeholders()) > 0 {
		return nil // drawn anew for every scope
	}
	value := h.Value.Render(placeholderX{})
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		return []string{value}
	}
	found := []string{value, rest}
	if strings.EqualFold(scheme, "basic") {
		if decoded, err := base64.StdEncoding.DecodeString(rest); err == nil {
			_, password, _ := strings.Cut(string(decoded), ":")
			found = append(found, string(decoded), password)
		}
	}
	return found
}

// passwords are the texts of a body that carry credentials by the names of their members.
func (b Body) passwords() []string {
	var found []string
	b.tree.members(func(name string, value *node) {
		if value.kind == strict.String && slices.Contains(secretNames, snake(name)) {
			found = append(found, value.text.Render(placeholderX{}))
		}
	})
	return found
}

// secretNames are members of log-in requests that hold a credential: those of OAuth 2.0 (RFC 6749, sections 2.3.1,
// 4.1.3, 4.3.2 and 6) and of common APIs.
var secretNames = []string{
	"password", "passwd", "passphrase", "pin", "otp", "secret", "client_secret", "code", "code_verifier", "refresh_token",
	"token", "access_token", "assertion", "client_assertion", "api_key", "apikey",
}
