package openapi

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// Names under which published conventions send the key, and names that may mean anything, where only the description says that it is one.
var (
	keyNames   = regexp.MustCompile(`(?i)^(.*-)?idempotency([-_]?(key|token|id))?$|^x-payout-idempotency$|^repeatability-request-id$|^paypal-request-id$|^idempotent[-_]?(key|token|id)$`)
	vagueNames = regexp.MustCompile(`(?i)(request|transaction|message|correlation|operation|client|reference)[-_]?(id|key|token|uuid|reference)$|^(x-)?(nonce|request-?key|unique-?key)$`)
	keyMembers = regexp.MustCompile(`(?i)^(client[-_]?)?idempotency[-_]?(key|token|id)$`)
	keyWords   = regexp.MustCompile(`(?i)idempot|safely retr|retry safe|de-?duplicat`)
)

// isKey is true for a parameter that carries the idempotency key.
func (p param) isKey() bool {
	if p.in != "header" && p.in != "query" {
		return false
	}
	return keyNames.MatchString(p.name) || vagueNames.MatchString(p.name) && keyWords.MatchString(p.description)
}

// keyOf is where the key of an operation travels. A POST whose document says nothing gets the header that most use, as a guess.
func keyOf(o *operation, inBody draft.Key) draft.Key {
	for _, p := range o.params {
		if !p.isKey() {
			continue
		}
		if p.in == "query" {
			return draft.Key{Query: p.name, Required: p.required}
		}
		return draft.Key{Header: p.name, Required: p.required}
	}
	switch {
	case inBody.JSON != "":
		return inBody
	case o.Method == "POST":
		return draft.Key{Header: "Idempotency-Key", Guess: "the document declares no key; this header is the most common one"}
	}
	return draft.Key{}
}

// keyMember is the member of the body that carries the key. It is taken out of the tree, since the plan puts it in.
func (b *drafter) keyMember(t *schema, tree *yaml.Node) draft.Key {
	for _, p := range t.properties {
		of := b.d.schema(p.nodes...)
		vague := vagueNames.MatchString(p.name) && keyWords.MatchString(of.description)
		if !keyMembers.MatchString(p.name) && !vague || !of.is("string") && len(of.types) > 0 {
			continue
		}
		for i := 0; i+1 < len(tree.Content); i += 2 {
			if tree.Content[i].Value == p.name {
				tree.Content = slices.Delete(tree.Content, i, i+2)
				break
			}
		}
		return draft.Key{JSON: memberPath("$", p.name), Required: t.needed[p.name]}
	}
	return draft.Key{}
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// memberPath is the JSONPath of a member (RFC 9535, section 2.3.1).
func memberPath(path, name string) string {
	if plainMember.MatchString(name) {
		return path + "." + name
	}
	return path + "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "']"
}
