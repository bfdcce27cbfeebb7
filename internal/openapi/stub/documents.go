package stub

import (
	"os"
	"path/filepath"
	"testing"
)

// Documents are the files of the folder with documents that are in use, at least five. The test is skipped where there is none, and where tests
// are to be short: they have some thousand operations.
func Documents(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("real documents have a thousand operations: run it without -short")
	}
	dir := os.Getenv("RETRYSAFE_TEST_OPENAPI")
	if dir == "" {
		t.Skip("RETRYSAFE_TEST_OPENAPI is not set: it names a folder with real documents, see .ci/services")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("expected at least 5 documents in %s, found %d", dir, len(files))
	}
	return files
}
