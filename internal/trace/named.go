package trace

import "path"

// Named reports whether a name is meant by a word of a plan or of the command line: the name itself, or a pattern such as same-key-* that it
// matches. A pattern that is none matches nothing.
func Named(word, name string) bool {
	ok, err := path.Match(word, name)
	return word == name || ok && err == nil
}
