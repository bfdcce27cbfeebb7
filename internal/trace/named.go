package trace

import (
	"path"
	"strings"
)

// Named reports whether a name is meant by a word of a plan or of the command line: the name itself, or a pattern such as same-key-* that it
// matches. A pattern that is none matches nothing.
func Named(word, name string) bool {
	ok, err := Matches(word, name)
	return word == name || ok && err == nil
}

// Matches reports whether a name matches a shell pattern: ? is a character, * any number of them, [a-z] one of these. A name is no
// path, so that a slash in it is a character as others are: `GET /orders*` has GET /orders/{id}/lines too.
func Matches(pattern, name string) (bool, error) {
	flat := strings.NewReplacer("/", "\x00")
	return path.Match(flat.Replace(pattern), flat.Replace(name))
}
