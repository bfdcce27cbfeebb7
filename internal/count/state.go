package count

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// stateLimit is the longest text of a state that is kept: what people still compare by eye. A longer one is replaced
// by its SHA-256 as a whole, since a cut through a secret would leave a part that nothing recognises.
const stateLimit = 4 << 10

// ReadState asks for the state s once, with v for its placeholders. The value is
//
//   - for s.Value the one place that the JSONPath matches, as JSON without white space, names sorted;
//   - for s.Header its lines, joined by ", ";
//   - for s.SQL the one value of a row as JSON, or an object of all its values under the names of their columns;
//   - else the status and the body, JSON in the form above: "200 {...}". "404" is a state too.
//
// Above 4 KiB, and for what is no UTF-8, size and SHA-256 stand for the text. What goes wrong is in the Error of the
// value: no answer, an answer that is not about the state (429, 5xx, a refusal of the caller; anything but 2xx for a
// JSONPath or header), nothing at the place, or anything but one row. The Scope is the caller's to fill in.
func (r *Reader) ReadState(ctx context.Context, s plan.State, v plan.Values) trace.StateValue {
	out := trace.StateValue{State: s.Name}
	if s.SQL != nil {
		out.Source = s.SQL.Show(v)
		value, err := r.sqlState(ctx, s.SQL, v)
		if err != nil {
			out.Error = err.Error()
		}
		out.Value = value
		return out
	}
	x := r.Get(ctx, &plan.HTTPCounter{Request: s.Request, Caller: s.Caller, Headers: s.Headers}, v)
	out.Source = "GET " + x.Request.URL
	if !x.Complete() {
		out.Error = "no answer: " + x.Error
		return out
	}
	value, err := stateValue(x.Response, s)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Value = value
	return out
}

func stateValue(a *trace.Response, s plan.State) (string, error) {
	switch {
	case s.Value == "" && s.Header == "":
		return wholeAnswer(a)
	case a.Status/100 != 2:
		return "", fmt.Errorf("expected a 2xx answer, found status %d", a.Status)
	case s.Header != "":
		lines := headerLines(a.Headers, s.Header)
		if len(lines) == 0 {
			return "", noHeader(s.Header)
		}
		return bounded(strings.Join(lines, ", ")), nil
	}
	if err := whole(a.Body); err != nil {
		return "", err
	}
	found, err := selectOne(a.Body.Bytes(), s.Value)
	if err != nil {
		return "", err
	}
	text, err := compact(found)
	return bounded(text), err
}

// wholeAnswer is status and body. Answers of a busy or broken server and those to an unknown caller say nothing about
// the state.
func wholeAnswer(a *trace.Response) (string, error) {
	unrelated := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests}
	if a.Status >= 500 || slices.Contains(unrelated, a.Status) {
		return "", fmt.Errorf("expected an answer about the state, found status %d", a.Status)
	}
	status := fmt.Sprint(a.Status)
	if a.Body.Truncated {
		return fmt.Sprintf("%s [%d bytes, sha256 %s]", status, a.Body.Size, a.Body.SHA256), nil
	}
	text := string(a.Body.Bytes())
	if doc, err := decode(a.Body.Bytes()); err == nil {
		if text, err = compact(doc); err != nil {
			return "", err
		}
	}
	if text == "" {
		return status, nil
	}
	return status + " " + bounded(text), nil
}

// compact is a JSON value without white space, names sorted; <, > and & stay as they are.
func compact(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("cannot write the value as JSON: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// bounded is a text as it is, or its size and hash when it is too long to be shown or no text.
func bounded(text string) string {
	if len(text) <= stateLimit && utf8.ValidString(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("[%d bytes, sha256 %s]", len(text), hex.EncodeToString(sum[:]))
}
