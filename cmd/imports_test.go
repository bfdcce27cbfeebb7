package cmd

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the packages to one direction: cmd -> engine, recorded, judge, report, fixtures -> plan, scenarios,
// dialect, fire, count, redact, sink, ledger -> strict, database, trace. What a package may import from this module is listed; the rest is
// forbidden.
func TestImports(t *testing.T) {
	allowed := map[string]string{
		"retrysafe":                          "cmd",
		"retrysafe/cmd":                      "fixtures report scenarios internal/advice internal/baseline internal/dialect internal/draft internal/engine internal/fire internal/judge internal/ledger internal/openapi internal/plan internal/recorded internal/redact internal/requests internal/schema internal/sink internal/strict internal/trace",
		"retrysafe/fixtures":                 "internal/strict",
		"retrysafe/report":                   "scenarios internal/trace",
		"retrysafe/scenarios":                "internal/strict internal/trace",
		"retrysafe/internal/bench":           "report scenarios internal/fire internal/judge internal/trace", // a program of its own
		"retrysafe/internal/release":         "cmd",                                                          // a program of its own
		"retrysafe/internal/engine":          "scenarios internal/count internal/database internal/dialect internal/fire internal/ledger internal/plan internal/redact internal/sink internal/trace internal/webhook",
		"retrysafe/internal/advice":          "scenarios internal/engine internal/plan internal/trace",
		"retrysafe/internal/recorded":        "scenarios internal/baseline internal/dialect internal/judge internal/trace",
		"retrysafe/internal/baseline":        "internal/strict internal/trace",
		"retrysafe/internal/judge":           "scenarios internal/dialect internal/trace",
		"retrysafe/internal/plan":            "internal/database internal/dialect internal/strict internal/trace internal/webhook",
		"retrysafe/internal/dialect":         "internal/strict internal/trace",
		"retrysafe/internal/count":           "internal/database internal/plan internal/trace",
		"retrysafe/internal/sink":            "internal/plan internal/trace",
		"retrysafe/internal/fire":            "internal/trace",
		"retrysafe/internal/redact":          "internal/trace",
		"retrysafe/internal/ledger":          "internal/trace",
		"retrysafe/internal/schema":          "internal/trace",
		"retrysafe/internal/webhook":         "internal/trace",
		"retrysafe/internal/draft":           "internal/strict",
		"retrysafe/internal/openapi":         "internal/draft internal/strict",
		"retrysafe/internal/openapi/stub":    "", // for tests
		"retrysafe/internal/requests":        "internal/dialect internal/draft internal/strict",
		"retrysafe/internal/database":        "",
		"retrysafe/internal/database/dbtest": "internal/database", // for tests
		"retrysafe/internal/strict":          "",
		"retrysafe/internal/trace":           "",
	}
	// The judge is pure: it cannot reach a network, a file or a clock of its own.
	forbidden := map[string]string{
		"retrysafe/internal/judge":    "net net/http os os/exec io/fs",
		"retrysafe/internal/recorded": "net net/http os os/exec io/fs",
		"retrysafe/report":            "net net/http os/exec",
		"retrysafe/internal/trace":    "net net/http os",
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "retrysafe/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		pkg, imports := fields[0], fields[1:]
		list, known := allowed[pkg]
		if !known {
			t.Errorf("package %s is not in the layout: say here what it may import", pkg)
		}
		for _, imp := range imports {
			if own, ok := strings.CutPrefix(imp, "retrysafe/"); ok && !slices.Contains(strings.Fields(list), own) {
				t.Errorf("%s must not import %s", pkg, imp)
			}
			if slices.Contains(strings.Fields(forbidden[pkg]), imp) {
				t.Errorf("%s must not import %s", pkg, imp)
			}
			if strings.HasPrefix(pkg, "retrysafe/internal/trace") && strings.Contains(imp, ".") {
				t.Errorf("%s must stay on the standard library, imports %s", pkg, imp)
			}
		}
	}
}
