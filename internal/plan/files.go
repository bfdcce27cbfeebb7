package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"retrysafe/internal/strict"
)

// Files is where the files are that a plan names: those that it includes, bodies of `file:`, and its own scenarios.
type Files interface {
	// Read is the content of a regular file of at most most bytes. An error that is not errOtherFile says that it cannot be read.
	Read(path string, most int64) ([]byte, error)
	// Glob are the files that match a pattern, in the order of their names, as filepath.Glob has it.
	Glob(pattern string) ([]string, error)
}

// errOtherFile is the error for what is no regular file, or too large.
var errOtherFile = errors.New("expected a regular file")

// Disk is the file system of the process.
type Disk struct{}

// Read implements Files.
func (Disk) Read(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, fmt.Errorf("%w of at most %d bytes", errOtherFile, most)
	}
	return os.ReadFile(path)
}

// Glob implements Files.
func (Disk) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

// beside is a path as a file of the plan means it: from the folder of that file on.
func beside(t strict.Text) string {
	if filepath.IsAbs(t.Value) {
		return t.Value
	}
	return filepath.Join(filepath.Dir(t.Pos().File), t.Value)
}
