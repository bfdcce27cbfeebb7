package requests

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// vault replaces secrets by variables. The same secret is the same variable everywhere.
type vault struct {
	names map[string]string // of secrets
	taken map[string]int
	// found are the secrets that are replaced wherever they occur, not only where their place tells.
	found []string
}

func newVault() *vault { return &vault{names: map[string]string{}, taken: map[string]int{}} }

// hide is the hole for a secret, with a variable named after want. What consists of holes already stays.
func (v *vault) hide(want, secret string) string {
	if strings.TrimSpace(literalOf(secret)) == "" {
		return secret
	}
	name, known := v.names[secret]
	if !known {
		name = variableName(want)
		v.taken[name]++
		if n := v.taken[name]; n > 1 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		v.names[secret] = name
		v.remember(secret)
	}
	return hole(name)
}

// remember lets a secret be replaced in all texts too, when it is none of the words that could mean anything.
func (v *vault) remember(secret string) {
	const least, leastDigits = 6, 12
	if len(secret) < least || hasHole(secret) || commonWord.MatchString(secret) || len(secret) < leastDigits && numeric.MatchString(secret) {
		return
	}
	v.found = append(v.found, secret)
}

// commonWord is what a text may hold without telling a secret.
var commonWord = regexp.MustCompile(`^[A-Z]?[a-z]*$`)

// scrubber replaces what the vault knows in texts of the plan.
func (v *vault) scrubber() *strings.Replacer {
	secrets := slices.Clone(v.found)
	slices.SortStableFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			pairs = append(pairs, form, v.instead(s))
		}
	}
	return strings.NewReplacer(pairs...)
}

func (v *vault) instead(secret string) string {
	if name, ok := v.names[secret]; ok {
		return "${" + name + "}"
	}
	return "${SECRET}"
}

// authorization hides what stands behind the scheme of an Authorization header; want names what other schemes hold.
func (v *vault) authorization(value string) string {
	scheme, rest, found := strings.Cut(strings.TrimSpace(value), " ")
	switch {
	case !found || hasHole(scheme):
		return v.hide("AUTHORIZATION", strings.TrimSpace(value))
	case equalFold(scheme, "bearer"):
		return scheme + " " + v.hide("TOKEN", rest)
	case equalFold(scheme, "basic"):
		if text, err := base64.StdEncoding.DecodeString(rest); err == nil {
			v.remember(string(text))
			if _, password, ok := strings.Cut(string(text), ":"); ok {
				v.remember(password)
			}
		}
		return scheme + " " + v.hide("BASIC_CREDENTIALS", rest)
	case schemes.MatchString(scheme):
		return scheme + " " + v.hide("AUTHORIZATION", rest)
	}
	return v.hide("AUTHORIZATION", strings.TrimSpace(value))
}

// schemes are other ones than Bearer and Basic that services have; what is none of them may be a part of the secret.
var schemes = regexp.MustCompile(`(?i)^(token|apikey|api-key|key|jwt|digest|negotiate|hawk|dpop|hmac|signature|splunk|geniekey|aws4-hmac-sha256)$`)

// perRequest are those that sign one request, so that no other can have their value.
var perRequest = regexp.MustCompile(`(?i)^(digest|hawk|hmac|signature|dpop|aws4-hmac-sha256) `)

// cookie hides a whole Cookie header; its values are remembered one by one.
func (v *vault) cookie(value string) string {
	for pair := range strings.SplitSeq(value, ";") {
		if _, secret, ok := strings.Cut(pair, "="); ok {
			v.remember(strings.TrimSpace(secret))
		}
	}
	return v.hide("COOKIE", value)
}

// basicUser is the value of an Authorization header for "user:password".
func (v *vault) basicUser(user string) string {
	if strings.TrimSpace(user) == "" {
		return ""
	}
	_, password, _ := strings.Cut(user, ":")
	v.remember(user)
	v.remember(password)
	return "Basic " + v.hide("BASIC_CREDENTIALS", "basic "+user+".")
}

// secretWords are words of names that carry credentials.
var secretWords = regexp.MustCompile(`(^|_)(authorization|auth|password|passwd|passphrase|passcode|pwd|pin|otp|totp|cvv|cvc|csc|secret|credentials?|jwt|csrf|xsrf|session|sessid|sid|` +
	`token|apikey|accesskey|signature|sig|hmac|assertion|private|x_amz_credential|bearer|ssn)(_|$)|` +
	`(password|passwd|passphrase|secret|token|apikey|sessid|sessionid)$|(^|_)(api|access|auth|app|subscription|private|secret|license|account|client|master|service|functions)_key(_|$)|^code_verifier$`)

// notSecret are names with such a word that say something else.
var notSecret = regexp.MustCompile(`idempoten|_(type|count|expires?|expires_in|expiry|ttl|length|limit|method|mode|url|uri|format|version|id_hint)$|^(max|min|num|has|is|use)_|^client_token$|^token_type$`)

// secretName is true for names of headers, parameters and fields that carry credentials.
func secretName(name string) bool {
	name = snake(name)
	return secretWords.MatchString(name) && !notSecret.MatchString(name)
}

// known are the forms of credentials that can be told by their look: JSON web tokens, keys of well-known services, PEM.
var known = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?|` +
	`\b(sk|rk|pk|whsec)_(live|test)?_?[A-Za-z0-9]{12,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|` +
	`\bxox[a-z]-[A-Za-z0-9-]{10,}|\bA(KIA|SIA)[A-Z0-9]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|` +
	`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(-----END [A-Z ]*PRIVATE KEY-----|$)`)

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// looksSecret is true for a whole value that can hardly be anything else than a credential: of a known form, or long and drawn
// from small letters, capital letters and digits.
func looksSecret(value string) bool {
	const long = 24
	if known.MatchString(value) {
		return true
	}
	if len(value) < long || len(value) > 1<<16 || uuidForm.MatchString(value) {
		return false
	}
	var small, capital, digit int
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z':
			small++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			digit++
		case strings.IndexByte("_-.+/=~", c) < 0:
			return false
		}
	}
	return small > 1 && capital > 1 && digit > 1 && !strings.Contains(value, "://")
}

// value hides a value by the name that it stands under, or by its look; false when it may stay.
func (v *vault) value(name, value string) (string, bool) {
	if literalOf(value) == "" || !secretName(name) && !looksSecret(value) {
		return value, false
	}
	if name == "" {
		name = "secret"
	}
	return v.hide(name, value), true
}

// inText are the places of a text of any format (XML, an unknown one) in which a name gives a credential away.
var inText = regexp.MustCompile(`(?i)(<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>)([^<]+)(</)|(\b([\w.-]+)"?\s*[=:]\s*["']?)([^\s"'&,;<>{}]+)`)

// text hides credentials in a text of any format.
func (v *vault) text(s string) string {
	return mapLiterals(s, func(s string) string {
		s = inText.ReplaceAllStringFunc(s, func(match string) string {
			m := inText.FindStringSubmatch(match)
			before, name, secret, after := m[1], m[2], m[3], m[4]
			if before == "" {
				before, name, secret, after = m[5], m[6], m[7], ""
			}
			if !secretName(name) {
				return match
			}
			return before + v.hide(name, secret) + after
		})
		s = known.ReplaceAllStringFunc(s, func(secret string) string { return v.hide("secret", secret) })
		return mapLiterals(s, func(s string) string {
			return longWord.ReplaceAllStringFunc(s, func(word string) string {
				if !looksSecret(word) || changes(word) < 4 {
					return word
				}
				return v.hide("secret", word)
			})
		})
	})
}

var longWord = regexp.MustCompile(`[A-Za-z0-9_-]{24,}`)

// changes is how often digits and letters follow each other: seldom in what people name, often in what is drawn.
func changes(word string) int {
	n := 0
	for i := 1; i < len(word); i++ {
		digit := func(c byte) bool { return c >= '0' && c <= '9' }
		if digit(word[i]) != digit(word[i-1]) {
			n++
		}
	}
	return n
}
