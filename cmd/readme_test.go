package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"retrysafe/scenarios"
)

// TestReadme runs the commands of the README on the built-in shop, with its plan as retrysafe.yaml, and with the blocks that begin with the
// name of a file as these.
func TestReadme(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("each command of the README is a program: run it without -race")
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	var script strings.Builder
	script.WriteString("shop\n")
	plan, files := "", ""
	commands := 0
	name := regexp.MustCompile(`^# (\S+\.yaml)\n`)
	for _, b := range blocks {
		switch b[1] {
		case "yaml":
			plan = b[2]
		case "yml":
			if m := name.FindStringSubmatch(b[2]); m != nil {
				files += "-- " + m[1] + " --\n" + b[2]
			}
		case "console":
			for _, line := range strings.Split(strings.TrimSpace(b[2]), "\n") {
				command, ok := strings.CutPrefix(line, "$ ")
				if !ok {
					t.Errorf("a console block holds commands only, found %q", line)
				}
				if strings.HasSuffix(command, "&") {
					continue // starts the shop, as this test did
				}
				commands++
				script.WriteString("exec " + command + "\n")
			}
		}
	}
	if plan == "" || commands < 6 {
		t.Fatalf("the README has no plan, or only %d commands", commands)
	}
	api, err := os.ReadFile("../fixtures/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	script.WriteString("-- retrysafe.yaml --\n" + plan + "-- openapi.yaml --\n" + string(api) + files)
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := scriptParams(t)
	p.Dir, p.Files = "", []string{file}
	testscript.Run(t, p)
}

// TestReadmeLists holds the tables of the README to the code.
func TestReadmeLists(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !strings.Contains(string(text), "| "+s.ID+" |") {
			t.Errorf("the README does not list the scenario %s", s.ID)
		}
	}
	for _, code := range []string{"| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 130 |"} {
		if !strings.Contains(string(text), code) {
			t.Errorf("the README does not list the exit code %s", code)
		}
	}
}

// TestReadmeLinks: what the README leads to in this repository is there.
func TestReadmeLinks(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 20 {
		t.Fatalf("only %d links", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join("..", l[1])); err != nil {
			t.Error(err)
		}
	}
}
