package dialect

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

// CheckKey says why the convention cannot carry a key; nil when it can, or when it documents nothing that forbids it.
// Only what is documented is checked: it is no promise that a server takes the key.
func (d Dialect) CheckKey(key string) error {
	length := utf8.RuneCountInString(key)
	if d.MinKey != 0 && length < d.MinKey {
		return fmt.Errorf("expected a key of at least %d characters (%s), found %d", d.MinKey, d.Name, length)
	}
	if d.MaxKey != 0 && length > d.MaxKey {
		return fmt.Errorf("expected a key of at most %d characters (%s), found %d", d.MaxKey, d.Name, length)
	}
	if pattern := d.KeyPattern; pattern != "" {
		if whole, err := compile(pattern); err != nil || !whole.MatchString(key) {
			return fmt.Errorf("expected a key that matches %s (%s), found %q", pattern, d.Name, key)
		}
	}
	if form := uuidForm(d.KeySyntax); form != "" && !regexp.MustCompile(form).MatchString(key) {
		return fmt.Errorf("expected a key that is a %s (%s), found %q", syntaxName(d.KeySyntax), d.Name, key)
	}
	return nil
}

// uuidForm is the form with hyphens (RFC 9562, section 4), for version 4 with its version and variant (section 5.4).
func uuidForm(syntax string) string {
	switch syntax {
	case UUID:
		return `\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z`
	case UUID4:
		return `\A[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\z`
	}
	return ""
}

func syntaxName(syntax string) string {
	if syntax == UUID4 {
		return "UUID of version 4"
	}
	return "UUID"
}
