package cmd

import (
	"fmt"
	"io"
	"os"
)

// fileLimit bounds what is read from a file that a user names: far above any plan, scenario or request body.
const fileLimit = 16 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path)
}

func readAll(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, fileLimit+1))
	if err == nil && len(text) > fileLimit {
		err = fmt.Errorf("%s is larger than %d MiB", name, fileLimit>>20)
	}
	return text, err
}
