package redact

import (
	"slices"
	"strings"
)

// spellings finds texts inside others. The zero value finds nothing. It grows by one text at a time for little: a service that
// sets a cookie with every answer adds thousands in a run.
type spellings struct {
	// begun is true for two bytes that a text begins with: most places of an answer begin none, and are passed over at that.
	begun [1 << 16]bool
	// lengths are those of the texts that begin with two bytes, longest first.
	lengths map[[2]byte][]int
	// starting are those texts.
	starting map[[2]byte][]string
	// tokens are what texts are replaced with.
	tokens map[string]string
	// longest is the length of the longest text.
	longest int
}

// add replaces text with token from now on. Of two tokens for a text the first one stays. One byte is too little to be found.
func (s *spellings) add(text, token string) {
	if _, known := s.tokens[text]; known || len(text) < 2 {
		return
	}
	if s.tokens == nil {
		s.tokens, s.lengths, s.starting = map[string]string{}, map[[2]byte][]int{}, map[[2]byte][]string{}
	}
	s.tokens[text] = token
	s.longest = max(s.longest, len(text))
	s.begun[pair(text)] = true
	start := [2]byte{text[0], text[1]}
	s.starting[start] = append(s.starting[start], text)
	lengths := s.lengths[start]
	if i, found := slices.BinarySearchFunc(lengths, len(text), func(a, b int) int { return b - a }); !found {
		s.lengths[start] = slices.Insert(lengths, i, len(text))
	}
}

// pair is the first two bytes of a text as a number.
func pair(text string) uint16 { return uint16(text[0])<<8 | uint16(text[1]) }

// replace replaces what is found, the longest text that begins at a place.
func (s *spellings) replace(in string) string {
	if len(s.tokens) == 0 {
		return in
	}
	var out strings.Builder
	done := 0
	for i := 0; i+1 < len(in); {
		n, token := s.at(in[i:])
		if n == 0 {
			i++
			continue
		}
		out.WriteString(in[done:i])
		out.WriteString(token)
		i += n
		done = i
	}
	if done == 0 {
		return in
	}
	out.WriteString(in[done:])
	return out.String()
}

// at is the longest text that in begins with; 0 for none.
func (s *spellings) at(in string) (n int, token string) {
	if !s.begun[pair(in)] {
		return 0, ""
	}
	for _, n := range s.lengths[[2]byte{in[0], in[1]}] {
		if n <= len(in) {
			if token, found := s.tokens[in[:n]]; found {
				return n, token
			}
		}
	}
	return 0, ""
}

// tail replaces the beginning of a text, of MinLength bytes or more, with which in ends: in was cut there.
func (s *spellings) tail(in string) string {
	for i := max(0, len(in)-s.longest); i <= len(in)-MinLength; i++ {
		for _, text := range s.starting[[2]byte{in[i], in[i+1]}] {
			if strings.HasPrefix(text, in[i:]) {
				return in[:i] + s.tokens[text]
			}
		}
	}
	return in
}
