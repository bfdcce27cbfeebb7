package report

import (
	"io"
	"os"
	"testing"
)

func TestUseColor(t *testing.T) {
	tests := []struct {
		flag   string
		env    map[string]string
		want   bool
		reason string
	}{
		{"auto", nil, false, "no terminal, no colour"},
		{"", nil, false, "an unset flag is auto"},
		{"always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true, "the flag beats everything"},
		{"never", map[string]string{"FORCE_COLOR": "1"}, false, "the flag beats everything"},
		{"auto", map[string]string{"FORCE_COLOR": "1"}, true, "forced without a terminal"},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true, "forced beats TERM"},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, true, "forced beats CLICOLOR"},
		{"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false, "0 does not force"},
		{"auto", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, false, "NO_COLOR beats forced"},
		{"auto", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": ""}, true, "an empty NO_COLOR says nothing"},
	}
	for _, tt := range tests {
		env := func(name string) string { return tt.env[name] }
		if got := UseColor(tt.flag, io.Discard, env); got != tt.want {
			t.Errorf("%s: got %v", tt.reason, got)
		}
	}
}

func TestWidth(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tests := []struct {
		columns string
		want    int
		reason  string
	}{
		{"", DefaultWidth, "a file has no width"},
		{"72", 72, "COLUMNS decides"},
		{"3", MinWidth, "never narrower than readable"},
		{"0", DefaultWidth, "no number of columns"},
		{"wide", DefaultWidth, "no number"},
	}
	for _, tt := range tests {
		if got := Width(file, func(string) string { return tt.columns }); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.reason, got, tt.want)
		}
	}
}
