package requests

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"retrysafe/internal/draft"
	"retrysafe/internal/plan"
)

// TestDraftsAreWrittenAsPlans writes the drafts of all examples as `retrysafe init` does, and lets the plan's reader judge them.
func TestDraftsAreWrittenAsPlans(t *testing.T) {
	sources := map[string][]byte{}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file+"/"+archive.Files[0].Name] = archive.Files[0].Data
	}
	for name, source := range secretive {
		text, _ := canaries(source)
		sources[name] = []byte(text)
	}
	for file, data := range sources {
		t.Run(file, func(t *testing.T) {
			d, err := read(filepath.Base(file), data)
			if err != nil {
				return // the example is of a mistake, and TestExamples knows it
			}
			var out bytes.Buffer
			if err := draft.Write(&out, d); err != nil {
				t.Fatal(err)
			}
			hosts := []string{"shop.example.com", "api.example.com", "h.example", "other.example"}
			_, err = plan.Parse("plan.yaml", out.Bytes(), environment(out.Bytes()), hosts...)
			if err != nil {
				t.Errorf("%v\nin\n%s", err, out.Bytes())
			}
		})
	}
}
