package judge

import (
	"fmt"
	"strings"

	"retrysafe/internal/trace"
)

// The creation fields that are no JSONPath.
const (
	fieldLocation = "header Location"
	// fieldWord is followed by the index of a word in a body that is no JSON.
	fieldWord = "body word "
)

// creationFields are the places at which two uncontested answers differ, once everything is taken out that
// differs without naming what was created.
func creationFields(f trace.Facts, ra, rb *trace.Round, a, b *trace.Exchange) []string {
	ea, eb := echoesOf(ra, a), echoesOf(rb, b)
	var fields []string
	ja, jb := bodyJSON(a.Response), bodyJSON(b.Response)
	if ja != nil && jb != nil {
		fields = creationLeaves(f, a, b, ja, jb, ea, eb)
	} else if ja == nil && jb == nil {
		fields = differingWords(words(wholeText(a.Response), ea), words(wholeText(b.Response), eb))
	}
	la, lb := firstHeader(a.Response.Headers, "Location"), firstHeader(b.Response.Headers, "Location")
	if la != "" && lb != "" && withoutEchoes(la, ea) != withoutEchoes(lb, eb) && !containsFold(f.IgnoreHeaders, "Location") {
		fields = append(fields, fieldLocation)
	}
	return fields
}

func creationLeaves(f trace.Facts, a, b *trace.Exchange, ja, jb *value, ea, eb []echo) []string {
	ignored := map[string]bool{}
	selected(content(a.Response), f.IgnoreJSON, ignored)
	selected(content(b.Response), f.IgnoreJSON, ignored)
	other := map[string]*value{}
	for _, l := range jb.leaves("$", "", nil) {
		other[l.path] = l.value
	}
	var fields []string
	for _, l := range ja.leaves("$", "", nil) {
		v := other[l.path]
		switch {
		case v == nil || v.kind != l.value.kind || v.kind != isString && v.kind != isNumber:
		case underAny(ignored, l.path) || isVolatile(l.name) || isDurationName(l.name):
		case isTime(l.value, a.Response) && isTime(v, b.Response):
		case leafText(l.value, ea) == leafText(v, eb):
		case fromRequest(a, l.value) && fromRequest(b, v):
		default:
			fields = append(fields, l.path)
		}
	}
	return fields
}

// underAny reports whether path is one of the given places or lies below one.
func underAny(places map[string]bool, path string) bool {
	if len(places) == 0 {
		return false
	}
	for p := range places {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// fromRequest reports whether a string repeats a part of the request that no scope lists, such as a {{uuid}}.
// Shorter strings than four characters occur by accident.
func fromRequest(x *trace.Exchange, v *value) bool {
	if v.kind != isString || len(v.text) < 4 {
		return false
	}
	if strings.Contains(x.Request.URL, v.text) || strings.Contains(x.Request.Body.Text, v.text) {
		return true
	}
	for _, h := range x.Request.Headers {
		if strings.Contains(h.Value, v.text) {
			return true
		}
	}
	return false
}

// differingWords are the places of words that differ between two texts of as many words; texts that are built
// otherwise cannot be laid beside each other.
func differingWords(a, b []string) []string {
	if len(a) != len(b) {
		return nil
	}
	var fields []string
	for i := range a {
		if a[i] != b[i] {
			fields = append(fields, fmt.Sprintf("%s%d", fieldWord, i+1))
		}
	}
	return fields
}

// identity holds the creation fields of one answer, in the order of Learned.CreationFields: "" where the
// answer lacks the field, else the value after "=".
type identity []string

// identify reads the creation fields of an answer; nil when it has none of them.
func identify(fields []string, r *trace.Round, x *trace.Exchange) identity {
	if len(fields) == 0 || x.Response == nil {
		return nil
	}
	echoes := echoesOf(r, x)
	found := map[string]string{}
	if doc := bodyJSON(x.Response); doc != nil {
		for _, l := range doc.leaves("$", "", nil) {
			if l.value.kind != isNull {
				found[l.path] = "=" + leafText(l.value, echoes)
			}
		}
	} else if text := wholeText(x.Response); text != "" {
		for i, w := range words(text, echoes) {
			found[fmt.Sprintf("%s%d", fieldWord, i+1)] = "=" + w
		}
	}
	if loc := firstHeader(x.Response.Headers, "Location"); loc != "" {
		found[fieldLocation] = "=" + withoutEchoes(loc, echoes)
	}
	id, some := make(identity, len(fields)), false
	for i, f := range fields {
		id[i] = found[f]
		some = some || found[f] != ""
	}
	if !some {
		return nil
	}
	return id
}

// size is how many of the fields the answer has.
func (a identity) size() int {
	n := 0
	for _, value := range a {
		if value != "" {
			n++
		}
	}
	return n
}

// compare counts the fields that both have: how many are equal, and how many differ.
func (a identity) compare(b identity) (equal, differ int) {
	if a == nil || b == nil {
		return 0, 0
	}
	for i := range a {
		switch {
		case a[i] == "" || b[i] == "":
		case a[i] == b[i]:
			equal++
		default:
			differ++
		}
	}
	return equal, differ
}

// other reports whether b names another creation than a: they share fields, and every one differs.
func (a identity) other(b identity) bool {
	equal, differ := a.compare(b)
	return equal == 0 && differ > 0
}

// same reports whether a and b name the same creation in every field that both have.
func (a identity) same(b identity) bool {
	equal, differ := a.compare(b)
	return equal > 0 && differ == 0
}

// onlyNames keeps the fields that name a thing; nil when there are none.
func (a identity) onlyNames(fields []string) identity {
	var out identity
	for i, value := range a {
		if value == "" || !isIdentity(fields[i]) {
			continue
		}
		if out == nil {
			out = make(identity, len(a))
		}
		out[i] = value
	}
	return out
}

// creations groups identities into creations: one member of each. An identity that shares one field with a
// group belongs to it; one that cannot be compared with any group is left out.
func creations(known []identity, ids []identity) (groups []identity) {
	groups = append(groups, known...)
	for _, id := range ids {
		fresh := id != nil
		for _, g := range groups {
			if !g.other(id) {
				fresh = false
			}
		}
		if fresh {
			groups = append(groups, id)
		}
	}
	return groups[len(known):]
}

func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
