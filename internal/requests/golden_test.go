package requests

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"retrysafe/internal/draft"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// TestExamples reads one source of each kind as people have them, and holds the draft to what stands beside it.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			got := ""
			if d, err := read(in.Name, in.Data); err != nil {
				got = "error " + err.Error() + "\n"
			} else {
				got = show(t, d)
				acceptable(t, d)
			}
			if *update {
				archive.Files = []txtar.File{in, {Name: "draft", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// read reads a source by its look, as `retrysafe init` does.
func read(name string, data []byte) (draft.Draft, error) {
	switch {
	case IsHAR(data):
		return HAR(name, data)
	case IsPostman(data), strings.HasSuffix(name, ".json"):
		return Postman(name, data)
	case strings.HasPrefix(name, "curl"):
		return Curl(name, string(data))
	}
	return HTTP(name, data)
}
