package cmd

import (
	"strings"
	"testing"

	"retrysafe/internal/strict"
)

func TestGrouped(t *testing.T) {
	at := func(file string, line int, message string) *strict.Error {
		return &strict.Error{Pos: strict.Pos{File: file, Line: line, Col: 3}, Message: message, Source: "  text", Width: 4}
	}
	all := strict.Errors{at("a", 1, "x"), at("a", 2, "y"), at("a", 4, "x"), at("b", 7, "x"), at("a", 1, "x"), at("b", 7, "x")}
	want := "a:1:3: x\n1 |   text\n  |   ^~~~\n  and 2 more like it: 4:3, b:7:3\na:2:3: y\n2 |   text\n  |   ^~~~"
	if got := strings.Join(grouped(all, true), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	for i := range 50 {
		all = append(all, at("a", 10+i, "y"))
	}
	want = "a:1:3: x\n  and 2 more like it: 4:3, b:7:3\na:2:3: y\n  and 50 more like it: 10:3, 11:3, 12:3, 13:3, 14:3, 15:3, 16:3, 17:3 and 42 more"
	if got := strings.Join(grouped(all, false), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := grouped(nil, true); got != nil {
		t.Errorf("%q", got)
	}
}
