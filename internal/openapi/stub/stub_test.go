package stub

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const paths = `
paths:
  /orders/{id}:
    put:
      parameters:
        - {name: id, in: path, required: true, INTEGER}
        - {name: X-Tenant, in: header, required: true, STRING}
`

const v3 = `openapi: 3.0.0
info: {title: t, version: '1'}
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}` + paths + `
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [qty], properties: {qty: {type: integer}}}}}}
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
`

const v2 = `swagger: '2.0'
info: {title: t, version: '1'}
consumes: [application/json]
produces: [application/json]
security: [{token: []}]
securityDefinitions: {token: {type: apiKey, in: header, name: Authorization}}` + paths + `
        - {name: order, in: body, required: true, schema: {type: object, required: [qty], properties: {qty: {type: integer}}}}
      responses: {200: {description: ok, schema: {type: object, properties: {id: {type: string}}}}}
`

func TestServer(t *testing.T) {
	for version, text := range map[string]string{
		"3.0": strings.NewReplacer("INTEGER", "schema: {type: integer}", "STRING", "schema: {type: string}").Replace(v3),
		"2.0": strings.NewReplacer("INTEGER", "type: integer", "STRING", "type: string").Replace(v2),
	} {
		s, err := New([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if s.Total() != 1 {
			t.Errorf("%s: got %d operations", version, s.Total())
		}
		for _, c := range []struct {
			reason, path, tenant, token, body string
			status                            int
		}{
			{"no such path", "/order/1", "a", "t", `{"qty": 1}`, 404},
			{"parameter of the wrong type", "/orders/x", "a", "t", `{"qty": 1}`, 400},
			{"no header", "/orders/1", "", "t", `{"qty": 1}`, 400},
			{"no credentials", "/orders/1", "a", "", `{"qty": 1}`, 400},
			{"member of the wrong type", "/orders/1", "a", "t", `{"qty": "1"}`, 400},
			{"no member", "/orders/1", "a", "t", `{}`, 400},
			{"no body", "/orders/1", "a", "t", ``, 400},
			{"valid", "/orders/1", "a", "t", `{"qty": 1}`, 200},
		} {
			r := httptest.NewRequest(http.MethodPut, c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			if c.tenant != "" {
				r.Header.Set("X-Tenant", c.tenant)
			}
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%s, %s: got %d %s", version, c.reason, w.Code, w.Body)
			}
			if valid := s.Seen()["PUT /orders/{id}"] == nil && c.status != 404; valid != (c.status == 200) {
				t.Errorf("%s, %s: seen as %v", version, c.reason, s.Seen())
			}
			if c.status == 200 && !strings.Contains(w.Body.String(), `"id":"x`) {
				t.Errorf("%s: answered %s", version, w.Body)
			}
		}
	}
}
