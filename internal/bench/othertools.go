package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// vegeta attacks as fast as five workers can until the five targets are used up.
func vegeta(a attempt, _ string) (command, error) {
	target, err := json.Marshal(map[string]any{
		"method": "POST", "url": a.url + "/orders", "body": []byte(payload(a.key)),
		"header": map[string][]string{"Content-Type": {"application/json"}, "Idempotency-Key": {a.key}},
	})
	n := strconv.Itoa(peerCopies)
	return command{
		args: []string{"attack", "-format=json", "-lazy", "-rate=0", "-workers=" + n, "-max-workers=" + n,
			"-output=" + os.DevNull},
		stdin: strings.Repeat(string(target)+"\n", peerCopies),
	}, err
}

// nuclei has a mode in which it holds the last byte of a raw request back. Nothing is asked of other hosts: neither for
// updates nor for an interaction server.
func nuclei(a attempt, _ string) (command, error) {
	file := filepath.Join(a.dir, "race.yaml")
	err := os.WriteFile(file, []byte(nucleiTemplate(a.key)), 0o600)
	return command{args: []string{"-t", file, "-u", a.url, "-nc", "-silent", "-duc", "-ni", "-nh"}}, err
}

func nucleiTemplate(key string) string {
	return fmt.Sprintf(`id: bench-race
info: {name: bench, author: bench, severity: info}
http:
  - raw:
      - |
        POST /orders HTTP/1.1
        Host: {{Hostname}}
        Content-Type: application/json
        Idempotency-Key: %s

        %s
    race: true
    race_count: %d
    matchers:
      - {type: status, status: [200, 201]}
`, key, payload(key), peerCopies)
}

// xargs starts five processes of curl, each with one of five lines as its URL.
func xargs(a attempt, curl string) (command, error) {
	args := append([]string{"-P", strconv.Itoa(peerCopies), "-n", "1", curl}, curlArgs(a)...)
	return command{
		args:  append(args, "-o", os.DevNull),
		stdin: strings.Repeat(a.url+"/orders\n", peerCopies),
	}, nil
}
