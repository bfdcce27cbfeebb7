package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func apiCoverage() *APICoverage {
	return &APICoverage{
		Schema: APICoverageV1, API: "openapi.yaml", Plans: []string{"retrysafe.yaml"}, Operations: 3, Covered: 2, Percent: 66.6, Min: 80, Excluded: 1,
		Missing: []APIOperation{{Method: "POST", Path: "/orders/{order_id}", ID: "create\x1b|Order", Place: "openapi.yaml:12"}},
		Unknown: []APIEndpoint{{Name: "old <one>", Request: "POST /old", Place: "retrysafe.yaml:7"}},
	}
}

func TestAPICoverage(t *testing.T) {
	var text, narrow, markdown bytes.Buffer
	for _, err := range []error{
		APICoverageText(&text, apiCoverage(), Options{Width: 120}), APICoverageText(&narrow, apiCoverage(), Options{Width: 40}), APICoverageMarkdown(&markdown, apiCoverage()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := `without an endpoint      operationId       described at
POST /orders/{order_id}  create\x1b|Order  openapi.yaml:12

not in the API  endpoint   in the plan at
POST /old       old <one>  retrysafe.yaml:7

2 of 3 operations that change something have an endpoint, 66.6 % (1 left out); at least 80 % is asked for.
`; text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
	if want := `without an endpoint
  POST /orders/{order_id}
      create\x1b|Order, openapi.yaml:12
`; !strings.HasPrefix(narrow.String(), want) {
		t.Errorf("got\n%s", narrow.String())
	}
	if want := `## retrysafe: coverage of openapi.yaml

2 of 3 operations that change something have an endpoint, 66.6 % (1 left out); at least 80 % is asked for.

| without an endpoint | operationId | described at |
|---|---|---|
| POST /orders/{order&#95;id} | create\x1b&#124;Order | openapi.yaml:12 |

| not in the API | endpoint | in the plan at |
|---|---|---|
| POST /old | old &lt;one&gt; | retrysafe.yaml:7 |
`; markdown.String() != want {
		t.Errorf("got\n%s", markdown.String())
	}
	for line := range strings.Lines(narrow.String()) {
		if len(strings.TrimSpace(line)) > 40 {
			t.Errorf("too wide: %s", line)
		}
	}
	var doc bytes.Buffer
	if err := APICoverageJSON(&doc, apiCoverage()); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(doc.Bytes(), &got); err != nil || got["schema"] != "retrysafe/coverage/v1" || got["covered"] != 2.0 {
		t.Errorf("%v: %s", err, doc.String())
	}
}
