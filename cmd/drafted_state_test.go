package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/trace"
)

const thingsDocument = `
openapi: 3.0.3
info: {title: Things, version: 1.0.0}
paths:
  /things:
    post:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/NewThing"}}}}
      responses: {"201": {description: Made, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      responses: {"200": {description: OK, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
    put:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/NewThing"}}}}
      responses: {"200": {description: OK}}
    patch:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/NewThing"}}}}
      responses: {"200": {description: OK}}
    delete:
      responses: {"204": {description: Gone}}
components:
  schemas:
    NewThing: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1, example: 5}}}
    Thing:
      type: object
      properties:
        id: {type: integer}
        amount: {type: integer}
        deleted: {type: boolean}
        updated_at: {type: string, format: date-time}
        version: {type: integer}
        etag: {type: string}
`

// things is a service that writes a time and a version with every write, whether it changes anything or not.
type things struct {
	adds, softly, unreadable, fails bool

	mu   sync.Mutex
	rows []map[string]any
}

func (s *things) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct{ Amount int }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if r.Method == http.MethodPost {
		row := map[string]any{"id": len(s.rows), "amount": body.Amount, "deleted": false}
		s.rows = append(s.rows, row)
		answerThing(w, http.StatusCreated, row)
		return
	}
	id := -1
	_, _ = fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/things/"), &id)
	row := map[string]any(nil)
	if id >= 0 && id < len(s.rows) {
		row = s.rows[id]
	}
	switch gone := row == nil || row["deleted"] == true && !s.softly; {
	case r.Method == http.MethodGet && s.unreadable:
		answerThing(w, http.StatusNotFound, map[string]any{"error": "no route"})
	case gone && s.fails:
		answerThing(w, http.StatusInternalServerError, map[string]any{"error": "undefined"})
	case gone:
		answerThing(w, http.StatusNotFound, map[string]any{"error": "not found", "time": time.Now().Format(time.RFC3339Nano)})
	case r.Method == http.MethodGet:
		answerThing(w, http.StatusOK, row)
	default:
		s.write(row, r.Method, body.Amount)
		answerThing(w, http.StatusOK, row)
	}
}

func (s *things) write(row map[string]any, method string, amount int) {
	version, _ := row["version"].(int)
	row["version"], row["etag"], row["updated_at"] = version+1, fmt.Sprint("e", version+1), time.Now().Format(time.RFC3339Nano)
	switch before, _ := row["amount"].(int); {
	case method == http.MethodDelete:
		row["deleted"] = true
	case s.adds:
		row["amount"] = before + amount
	default:
		row["amount"] = amount
	}
}

func answerThing(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// TestDraftedStates: a document alone is enough to judge what creates nothing. Honest services that write times and versions are not
// accused, and a document whose GET is not there claims nothing.
func TestDraftedStates(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Read("things.yaml", []byte(thingsDocument), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Draft()
	d.Target = draft.Text{Value: "${TARGET}"}
	var text strings.Builder
	if err := draft.Write(&text, d); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason             string
		service            *things
		put, patch, remove string
	}{
		{"honest", &things{}, "pass", "pass", "pass"},
		{"honest, deleted things stay readable", &things{softly: true}, "pass", "pass", "pass"},
		{"adds", &things{adds: true}, "method-not-idempotent", "method-not-idempotent", "pass"},
		{"fails on what is gone", &things{fails: true}, "pass", "pass", "retry-of-delete-fails"},
		{"the GET is not there", &things{unreadable: true}, "inconclusive", "inconclusive", "inconclusive"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			r := judged(t, c.service, text.String(), scenario("repeated-request", "repeated-delete"))
			got := map[string]string{}
			for _, e := range r.Endpoints {
				for _, judged := range e.Cases {
					if method, _, _ := strings.Cut(e.Request, " "); judged.Verdict != trace.Skip {
						got[method] = ruleOrVerdict(&judged)
					}
				}
			}
			for method, want := range map[string]string{"PUT": c.put, "PATCH": c.patch, "DELETE": c.remove} {
				if got[method] != want {
					t.Errorf("%s: got %q, want %q", method, got[method], want)
				}
			}
		})
	}
}

// ruleOrVerdict is the rule that a case says is broken, or else its verdict.
func ruleOrVerdict(c *trace.Case) string {
	if len(c.Findings) > 0 {
		return c.Findings[0].Rule
	}
	return string(c.Verdict)
}
