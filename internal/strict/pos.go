package strict

import "strconv"

// Pos is a place in a file. The zero value is "nowhere": a value that came from no file.
type Pos struct {
	// File is the path as it was given; empty for text that came from no file.
	File string
	// Line and Col count from 1, Col in characters (not bytes). Zero means that the place is not known.
	Line, Col int
}

// String is "file:line:col", without what is not known; empty for the zero value.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	place := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
	if p.File == "" {
		return place
	}
	return p.File + ":" + place
}
