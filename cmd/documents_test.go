package cmd

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"retrysafe/internal/openapi/stub"
)

// TestDocuments goes from published documents to first verdicts by the commands of a user, without a hand edit: init, validate, and a run
// against a server made from the document by others' code.
func TestDocuments(t *testing.T) {
	t.Parallel()
	files, bin := stub.Documents(t), build(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			byCommands(t, bin, file)
		})
	}
}

func byCommands(t *testing.T, bin, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server, err := stub.New(data)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	retrysafe := func(most int, args ...string) {
		c := exec.Command(bin, args...)
		c.Env = os.Environ()
		if text, err := os.ReadFile(plan); err == nil {
			for _, name := range regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)\}`).FindAllStringSubmatch(string(text), -1) {
				c.Env = append(c.Env, name[1]+"=secret-of-the-test")
			}
		}
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code < 0 || code > most || code == 2 {
			t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
		}
		t.Logf("%s: %v, %s", args[0], c.ProcessState.UserTime(), out[max(0, len(out)-600):])
	}
	retrysafe(0, "init", file, "--target", web.URL, "-o", plan)
	retrysafe(0, "validate", plan)
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\nlimits: {count: 50ms} # nothing comes to be in a stub, and each counter would wait 2 s for it\n"...)
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	retrysafe(3, "run", plan, "--scenario", "first-request", "--quiet", "--parallel", "64")
	valid := 0
	for name, why := range server.Seen() {
		if why == nil {
			valid++
			continue
		}
		t.Logf("%s: %.300s", name, strings.ReplaceAll(why.Error(), "\n", " "))
	}
	t.Logf("%d of %d unsafe operations received a valid request", valid, server.Total())
	if 100*valid < 80*server.Total() {
		t.Error("expected at least 80 %")
	}
}
