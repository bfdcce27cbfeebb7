package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"retrysafe/internal/trace"
)

// JSONWriter writes the results document of one run.
//
// While the run goes on, every finished case is appended as one line to the file PATH.partial, so that a
// crash or a power cut loses no more than the cases under way. At the end the document replaces PATH
// in one step and the partial file is removed. The document is the truth: the late count at the end of a run can
// change the result of a case after its line was written.
//
// The zero value is not usable; NewJSON makes one. Case may be called from several goroutines.
type JSONWriter struct {
	mu      sync.Mutex
	path    string
	partial *os.File
	// direct is where the document goes when the path is no regular file (standard output, a pipe, a device).
	direct io.Writer
	closer io.Closer
	lines  int
	done   bool
}

// PartialSuffix is added to the path of the document for the record of a run that has not ended.
const PartialSuffix = ".partial"

// PartialCase is one line of the partial record.
type PartialCase struct {
	// Endpoint is the name of the endpoint as in the plan.
	Endpoint string `json:"endpoint"`
	// Case is the case as it was judged when it ended.
	Case trace.Case `json:"case"`
}

// NewJSON prepares a document at path, before anything is sent, so that a path that cannot be written fails
// early: it creates the partial file. An older document at path stays until Finish replaces it. The
// path "-" is stdout; there and for anything else that is no regular file (/dev/stdout, a pipe) the document is written
// directly at the end and there is no partial record. The error says what could not be created.
func NewJSON(path string, stdout io.Writer) (*JSONWriter, error) {
	if path == "" {
		return nil, errors.New("json report: the path is empty; write json=FILE, or json=- for standard output")
	}
	if path == "-" {
		return &JSONWriter{direct: stdout}, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return openDirect(path, info)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	partial, err := os.OpenFile(path+PartialSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("json report: %w; choose a file in a folder that exists and can be written", err)
	}
	return &JSONWriter{path: path, partial: partial}, nil
}

func openDirect(path string, info fs.FileInfo) (*JSONWriter, error) {
	if info.IsDir() {
		return nil, fmt.Errorf("json report: %s is a folder; name a file in it", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("json report: %w", err)
	}
	return &JSONWriter{direct: f, closer: f}, nil
}

// Case appends a finished case of the named endpoint to the partial record. Without a partial record
// it does nothing.
func (j *JSONWriter) Case(endpoint string, c *trace.Case) error {
	line, err := json.Marshal(PartialCase{Endpoint: endpoint, Case: *c})
	if err != nil {
		return fmt.Errorf("json report: case %s of %s: %w", c.Scenario, endpoint, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.partial == nil || j.done {
		return nil
	}
	j.lines++
	if _, err := j.partial.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

// Finish writes the document: the run as encoding/json encodes it, indented by two spaces, with a line
// feed at the end. It goes to a temporary file beside the path that is then renamed, so that readers see the old
// document or the new one, never a part. After an error the partial record is kept.
func (j *JSONWriter) Finish(run *trace.Run) error {
	document, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	document = append(document, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return errors.New("json report: finished or aborted before")
	}
	j.done = true
	if j.direct != nil {
		return j.writeDirect(document)
	}
	if err := j.replace(document); err != nil {
		return errors.Join(fmt.Errorf("json report: %w", err), j.partial.Close())
	}
	if err := errors.Join(j.partial.Close(), os.Remove(j.partial.Name())); err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

func (j *JSONWriter) writeDirect(document []byte) error {
	_, err := j.direct.Write(document)
	if j.closer != nil {
		err = errors.Join(err, j.closer.Close())
	}
	if err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

// replace writes the document beside the path and renames it over it. The file gets the permissions of the
// partial one, which are those that the user's umask gives to new files.
func (j *JSONWriter) replace(document []byte) (err error) {
	info, err := j.partial.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(document)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), j.path)
}

// Abort ends without a document: the partial record is kept when it holds a case, and removed when it is
// empty. After Finish it does nothing, so that it can be deferred.
func (j *JSONWriter) Abort() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return nil
	}
	j.done = true
	if j.closer != nil {
		return j.closer.Close()
	}
	if j.partial == nil {
		return nil
	}
	err := j.partial.Close()
	if j.lines == 0 {
		err = errors.Join(err, os.Remove(j.partial.Name()))
	}
	return err
}
