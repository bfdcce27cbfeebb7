package judge

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// curl gives the lines that repeat a finding by hand: what the script sent under the keys of its evidence, from its
// beginning to the last of it. None where lines cannot repeat the script: a race, a client that leaves, a pause, a hook, or
// keys of a certain form.
func (v *view) curl(evidence []int) []string {
	if len(evidence) == 0 || !repeatable(v.in.Scenario) {
		return nil
	}
	var out, keys []string
	for _, i := range v.finals(nil) {
		x := v.x(i)
		mine := func(j int) bool { return j == i || sameKey(v.x(j), x) }
		if i > slices.Max(evidence) || x.Step < 0 || !slices.ContainsFunc(evidence, mine) {
			continue
		}
		if x.Key != "" && !slices.Contains(keys, x.Key) {
			keys = append(keys, x.Key)
		}
		line := curlLine(&x.Request, keys)
		if line == "" {
			return nil // it cannot be repeated without its body
		}
		out = append(out, line)
	}
	return slices.Concat(newKeys(keys, out), out)
}

// repeatable reports whether lines of a shell can do what a script does.
func repeatable(s *scenarios.Scenario) bool {
	odd := func(st scenarios.Step) bool {
		return st.Wait != nil || st.Hook != nil || st.Planted != nil || len(st.Volley) > 0
	}
	if len(s.Keys) > 0 || slices.ContainsFunc(s.Steps, odd) {
		return false
	}
	return !slices.ContainsFunc(s.Sends(), func(send scenarios.Send) bool {
		return send.Together > 1 || send.Every > 0 || send.Cut != nil || send.Background
	})
}

// newKeys are the lines that give each key of the run a new value: the run has used up its own.
func newKeys(keys, lines []string) []string {
	var out []string
	for i := range keys {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, keyVariable(i)) }) {
			out = append(out, strings.Trim(keyVariable(i), `"$`)+"=$(uuidgen)")
		}
	}
	return out
}

// keyVariable is how a line names the key with that index, in double quotes.
func keyVariable(i int) string {
	if i == 0 {
		return `"$KEY"`
	}
	return fmt.Sprintf(`"$KEY%d"`, i+1)
}

// curlLine is a request as a line for a POSIX shell, with variables for the keys; empty when the record does not
// hold the whole body.
func curlLine(r *trace.Request, keys []string) string {
	quote := func(s string) string {
		for i, k := range keys {
			if strings.Contains(s, k) {
				return strings.ReplaceAll(quoted(s), k, "'"+keyVariable(i)+"'")
			}
		}
		return quoteWhereNeeded(s)
	}
	if r.Body.Truncated {
		return ""
	}
	parts := []string{"curl -i -X " + quote(r.Method) + " " + quote(r.URL)}
	if strings.ContainsAny(r.URL, "[]{}") {
		parts = append(parts, "--globoff")
	}
	for _, h := range r.Headers {
		switch strings.ToLower(h.Name) {
		case "host", "content-length", "connection", "user-agent", "traceparent":
		default:
			parts = append(parts, "-H "+quote(headerArgument(h)))
		}
	}
	if len(r.Body.Bytes()) == 0 {
		return strings.Join(parts, " ")
	}
	if firstHeader(r.Headers, "Content-Type") == "" {
		parts = append(parts, "-H 'Content-Type:'") // else curl adds one
	}
	body := r.Body.Bytes()
	if r.Body.Base64 != nil || strings.ContainsRune(r.Body.Text, 0) { // no argument of a shell can hold these
		return fmt.Sprintf("echo %s | base64 -d | %s --data-binary @-", quote(base64.StdEncoding.EncodeToString(body)), strings.Join(parts, " "))
	}
	option := "--data-binary "
	if strings.HasPrefix(r.Body.Text, "@") {
		option = "--data-raw " // --data-binary would read a file of that name
	}
	return strings.Join(append(parts, option+quote(r.Body.Text)), " ")
}

// headerArgument is a header line as curl takes it: one without a value needs a semicolon, or curl leaves it out.
func headerArgument(h trace.Header) string {
	if h.Value == "" {
		return h.Name + ";"
	}
	return h.Name + ": " + h.Value
}

// quoteWhereNeeded puts s in single quotes for a POSIX shell, where it needs them.
func quoteWhereNeeded(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return quoted(s)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
