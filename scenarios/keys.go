package scenarios

import (
	"slices"
	"strings"
	"unicode"

	"retrysafe/internal/strict"
)

// The bounds of key forms: 36 characters is a UUID; 8,000 are what common servers take as one header line at least
// (RFC 9112 section 3 recommends that for the request line); ten header lines are more than any endpoint should take.
const (
	usualLength  = 36
	mostLength   = 8000
	mostKeyLines = 10
)

// formFields are the fields of a key's form.
func formFields() []string {
	return []string{"none", "text", "length", "like", "first", "case", "quoted", "lines"}
}

// keyForms reads the forms of letters whose keys are no plain UUIDs. Nil when there are none.
func (d *decoder) keyForms(v strict.Value) map[string]KeyForm {
	if !v.Present() {
		return nil
	}
	forms, likes := map[string]KeyForm{}, map[string]strict.Value{}
	entries := v.Entries()
	for _, e := range entries {
		if !isLetter(e.Key.Value) {
			e.Errorf("expected a capital letter, found %s", e.Key.Show())
			continue
		}
		o := e.Value.Object(formFields()...)
		forms[e.Key.Value], likes[e.Key.Value] = keyForm(e, o), o.Get("like")
	}
	if v.Kind() == strict.Mapping && len(entries) == 0 {
		v.Errorf("expected the forms of letters, found an empty mapping")
	}
	for letter, f := range forms {
		if f.Like != letter {
			likeable(likes[letter], forms[f.Like])
		}
	}
	return forms
}

func keyForm(e strict.Entry, o strict.Object) KeyForm {
	letter, v := e.Key.Value, e.Value
	f := KeyForm{Pos: v.Pos(), None: o.Get("none").Bool(), Quoted: o.Get("quoted").Bool()}
	f.Text = keyText(o.Get("text"))
	f.Length = int(o.Get("length").Int(1, mostLength))
	f.Like = o.Get("like").Text().Value
	f.First = int(o.Get("first").Int(1, mostLength))
	f.Case = o.Get("case").Enum("upper", "lower")
	f.Lines = int(o.Get("lines").Int(2, mostKeyLines))
	if v.Kind() == strict.Mapping && len(o.Entries()) == 0 {
		v.Errorf("expected a form: %s", strings.Join(formFields(), ", "))
	}
	switch {
	case !o.Has("like"):
	case f.Like == letter:
		o.Get("like").Errorf("key %s cannot be like itself: name another letter", letter)
	case o.Get("like").Kind() == strict.String && !isLetter(f.Like):
		o.Get("like").Errorf("expected a capital letter, found %s", o.Get("like").Text().Show())
	case !o.Has("first") && !o.Has("case") && !o.Has("quoted") && !o.Has("lines"):
		v.Errorf("a key that is like %s differs from it in something: add `first`, `case`, `quoted` or `lines`", f.Like)
	}
	formContradictions(o)
	firstWithin(o, f)
	return f
}

// keyText reads the text of a key; nil when there is none. A header cannot carry control characters.
func keyText(v strict.Value) *string {
	if v.Kind() != strict.String {
		v.Text()
		return nil
	}
	text := v.Text().Value
	if strings.ContainsFunc(text, unicode.IsControl) {
		v.Errorf("expected a text without control characters, found %s", v.Text().Show())
	}
	rest := strings.ReplaceAll(text, "{{key}}", "")
	if at := strings.Index(rest, "{{"); at >= 0 {
		v.Errorf("expected no placeholder but {{key}}, found %q", rest[at:])
	}
	return &text
}

// formContradictions notes fields of a key's form that do not go together.
func formContradictions(o strict.Object) {
	for _, other := range []string{"text", "length", "like", "first", "case", "quoted", "lines"} {
		if o.Has("none") && o.Has(other) {
			o.Get(other).Errorf("`none` and `%s` do not go together: a key that is not sent has no form", other)
		}
	}
	for _, other := range []string{"length", "like", "first", "case", "lines"} {
		if o.Has("text") && o.Has(other) {
			o.Get(other).Errorf("`text` and `%s` do not go together: the text is the whole key", other)
		}
	}
	for _, c := range [][3]string{
		{"case", "first", "another case keeps the whole key"},
		{"case", "length", "another case keeps the length"},
		{"lines", "first", "keys in several lines share the first line"},
		{"lines", "case", "keys in several lines share the first line"},
		{"lines", "quoted", "the lines hold plain keys"},
	} {
		if o.Has(c[0]) && o.Has(c[1]) {
			o.Get(c[1]).Errorf("`%s` and `%s` do not go together: %s", c[0], c[1], c[2])
		}
	}
	for _, field := range []string{"first", "case"} {
		if o.Has(field) && !o.Has("like") {
			o.Get(field).Errorf("`%s` is about another key: add `like: LETTER`", field)
		}
	}
}

// firstWithin notes a shared beginning that leaves nothing to differ in.
func firstWithin(o strict.Object, f KeyForm) {
	length := f.Length
	if length == 0 {
		length = usualLength
	}
	if f.First >= length {
		o.Get("first").Errorf("expected fewer than the %d characters of the key, found %d: nothing would differ", length, f.First)
	}
}

// likeable notes a key that another one cannot be made from. Chains are left out to keep the meaning plain.
func likeable(like strict.Value, target KeyForm) {
	name := like.Text().Value
	switch {
	case target.None:
		like.Errorf("requests of %s carry no key: name another letter", name)
	case target.Text != nil:
		like.Errorf("key %s is a fixed text: name a letter whose key is drawn", name)
	case target.Like != "":
		like.Errorf("key %s is itself like %s: name a letter that is like none", name, target.Like)
	}
}

// unsentKeys notes forms of letters that no send uses, or that are like one.
func (d *decoder) unsentKeys(v strict.Value) {
	for _, e := range v.Entries() {
		letter, like := e.Key.Value, d.keys[e.Key.Value].Like
		switch {
		case !isLetter(letter):
		case !slices.Contains(d.letters, letter):
			e.Errorf("key %s is never sent: remove its form, or send under it", letter)
		case isLetter(like) && !slices.Contains(d.letters, like):
			e.Errorf("key %s is like %s, which is never sent", letter, like)
		}
	}
}
