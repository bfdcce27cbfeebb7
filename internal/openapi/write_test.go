package openapi_test

import (
	"bytes"
	"strings"
	"testing"

	"retrysafe/internal/draft"
)

// env has all credentials, and nothing that a plan has a default for.
func env(name string) (string, bool) {
	return "test-" + name, !strings.HasPrefix(name, "RETRYSAFE_")
}

// write is a draft as a plan for that target.
func write(t testing.TB, d draft.Draft, target string) []byte {
	t.Helper()
	d.Target = draft.Text{Value: target}
	var out bytes.Buffer
	if err := draft.Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
