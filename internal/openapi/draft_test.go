package openapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/draft"
)

// find is the endpoint whose request starts with that.
func find(t *testing.T, d draft.Draft, method, template string) draft.Endpoint {
	t.Helper()
	for _, e := range d.Endpoints {
		if e.Template == template && strings.HasPrefix(e.Request, method+" ") {
			return e
		}
	}
	t.Fatalf("no endpoint %s %s in %+v", method, template, d.Endpoints)
	return draft.Endpoint{}
}

func steps(e draft.Endpoint) string {
	var out []string
	for _, s := range e.Setup {
		line := s.Request
		for _, c := range s.Capture {
			line += " " + c.Name + "=" + c.From
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func headerLines(list []draft.Header) string {
	var out []string
	for _, h := range list {
		out = append(out, h.Name+": "+h.Value.Value)
	}
	return strings.Join(out, "; ")
}

func TestKeys(t *testing.T) {
	header := func(name, rest string) string {
		return "paths: {/a: {METHOD: {parameters: [{in: header, name: " + name + ", schema: {type: string}" + rest + "}]}}}"
	}
	body := func(schema string) string {
		return "paths: {/a: {METHOD: {requestBody: {content: {application/json: {schema: " + schema + "}}}}}}"
	}
	for _, c := range []struct {
		reason, method, paths string
		want                  draft.Key
		guess                 bool
	}{
		{"declared", "post", header("Idempotency-Key", ""), draft.Key{Header: "Idempotency-Key"}, false},
		{"required", "put", header("x-idempotency-key", ", required: true"), draft.Key{Header: "x-idempotency-key", Required: true}, false},
		{"a vendor's name", "post", header("Cko-Idempotency-Key", ""), draft.Key{Header: "Cko-Idempotency-Key"}, false},
		{"of a standard", "delete", header("Repeatability-Request-ID", ""), draft.Key{Header: "Repeatability-Request-ID"}, false},
		{"by its description", "post", header("X-Request-Id", ", description: Makes the request idempotent."), draft.Key{Header: "X-Request-Id"}, false},
		{"a request id for logs", "post", header("X-Request-Id", ", description: For logs."), draft.Key{Header: "Idempotency-Key"}, true},
		{"in the query", "post", "paths: {/a: {METHOD: {parameters: [{in: query, name: idempotency_key}]}}}", draft.Key{Query: "idempotency_key"}, false},
		{"in the body", "post", body("{type: object, required: [idempotency_key], properties: {idempotency_key: {type: string}}}"), draft.Key{JSON: "$.idempotency_key", Required: true}, false},
		{"in the body, with a hyphen", "post", body("{type: object, properties: {idempotency-key: {type: string}}}"), draft.Key{JSON: "$['idempotency-key']"}, false},
		{"none for POST", "post", "paths: {/a: {METHOD: {}}}", draft.Key{Header: "Idempotency-Key"}, true},
		{"none for PATCH", "patch", "paths: {/a: {METHOD: {}}}", draft.Key{}, false},
		{"behind a reference", "post", "paths: {/a: {METHOD: {parameters: [{$ref: '#/components/parameters/K'}]}}}\ncomponents: {parameters: {K: {in: header, name: Idempotency-Key, required: true}}}", draft.Key{Header: "Idempotency-Key", Required: true}, false},
		{"of the path", "post", "paths: {/a: {parameters: [{in: header, name: Idempotency-Key}], METHOD: {}}}", draft.Key{Header: "Idempotency-Key"}, false},
	} {
		e := drafted(t, v30, strings.Replace(c.paths, "METHOD", c.method, 1)).Endpoints[0]
		guess := e.Key.Guess
		e.Key.Guess = ""
		if e.Key != c.want || (guess != "") != c.guess {
			t.Errorf("%s: got %+v, guess %q", c.reason, e.Key, guess)
		}
		if e.Body.JSON != nil && strings.Contains(jsonText(e.Body.JSON), "idempotency") {
			t.Errorf("%s: the body holds the key: %s", c.reason, jsonText(e.Body.JSON))
		}
		if len(e.Headers) > 0 && c.want.Header == e.Headers[0].Name {
			t.Errorf("%s: the headers hold the key", c.reason)
		}
	}
}

func TestCallers(t *testing.T) {
	schemes := "\ncomponents: {securitySchemes: {bearerAuth: {type: http, scheme: bearer}, basicAuth: {type: http, scheme: basic}, apiKey: {type: apiKey, in: header, name: X-API-Key}, " +
		"queryKey: {type: apiKey, in: query, name: 'api key'}, session: {type: apiKey, in: cookie, name: sid}, login: {type: oauth2}, oidc: {type: openIdConnect}, mtls: {type: mutualTLS}, digest: {type: http, scheme: digest}}}"
	for _, c := range []struct{ reason, paths, caller, request, headers string }{
		{"bearer", "security: [{bearerAuth: []}]\npaths: {/a: {post: {}}}", "Authorization: Bearer ${BEARER_AUTH_TOKEN}", "POST /a", ""},
		{"basic", "security: [{basicAuth: []}]\npaths: {/a: {post: {}}}", "Authorization: Basic ${BASIC_AUTH_BASIC}", "POST /a", ""},
		{"key in a header", "security: [{apiKey: []}]\npaths: {/a: {post: {}}}", "X-API-Key: ${API_KEY}", "POST /a", ""},
		{"key in the query", "security: [{queryKey: []}]\npaths: {/a: {post: {}}}", "", "POST /a?api+key=${QUERY_KEY}", ""},
		{"cookie", "security: [{session: []}]\npaths: {/a: {post: {}}}", "Cookie: sid=${SESSION}", "POST /a", ""},
		{"OAuth", "paths: {/a: {post: {security: [{login: [write]}]}}}", "Authorization: Bearer ${LOGIN_TOKEN}", "POST /a", ""},
		{"OpenID", "paths: {/a: {post: {security: [{oidc: []}]}}}", "Authorization: Bearer ${OIDC_TOKEN}", "POST /a", ""},
		{"two at once", "security: [{apiKey: [], session: []}]\npaths: {/a: {post: {}}}", "X-API-Key: ${API_KEY}; Cookie: sid=${SESSION}", "POST /a", ""},
		{"first that can be written", "security: [{digest: []}, {apiKey: []}]\npaths: {/a: {post: {}}}", "X-API-Key: ${API_KEY}", "POST /a", ""},
		{"none", "paths: {/a: {post: {}}}", "", "POST /a", ""},
		{"taken back", "security: [{bearerAuth: []}]\npaths: {/a: {post: {security: []}}}", "", "POST /a", ""},
		{"not needed", "security: [{}, {bearerAuth: []}]\npaths: {/a: {post: {}}}", "", "POST /a", ""},
		{"another one for one operation", "security: [{bearerAuth: []}]\npaths: {/a: {post: {security: [{apiKey: []}]}}, /b: {post: {}}, /c: {post: {}}}", "Authorization: Bearer ${BEARER_AUTH_TOKEN}", "POST /a", "X-API-Key: ${API_KEY}"},
		{"in no scheme", "paths: {/a: {post: {parameters: [{in: header, name: X-Api-Key, required: true}]}}}", "", "POST /a", "X-Api-Key: ${X_API_KEY}"},
	} {
		d := drafted(t, v30, c.paths+schemes)
		caller := ""
		if len(d.Callers) > 0 {
			caller = headerLines(d.Callers[0].Headers)
		}
		e := d.Endpoints[0]
		if caller != c.caller || e.Request != c.request || headerLines(e.Headers) != c.headers {
			t.Errorf("%s: got caller %q, request %q, headers %q", c.reason, caller, e.Request, headerLines(e.Headers))
		}
	}
	d := drafted(t, v20, "security: [{k: []}]\nsecurityDefinitions: {k: {type: basic}}\npaths: {/a: {post: {}}}")
	if got := headerLines(d.Callers[0].Headers); got != "Authorization: Basic ${K_BASIC}" {
		t.Errorf("Swagger: got %q", got)
	}
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		version, document, want string
		guess                   bool
	}{
		{v30, "servers: [{url: 'https://api.example.com/v1/'}, {url: 'http://b'}]", "https://api.example.com/v1", false},
		{v30, "servers: [{url: 'https://{region}.example.com:{port}/{base}', variables: {region: {default: eu}, port: {enum: ['8443']}, base: {default: v2}}}]", "https://eu.example.com:8443/v2", false},
		{v30, "servers: [{url: 'https://{unknown}.example.com'}, {url: 'http://localhost:3000'}]", "http://localhost:3000", false},
		{v30, "servers: [{url: /api/v1}]", "http://127.0.0.1:8080/api/v1", true},
		{v30, "servers: [{url: /}]", "http://127.0.0.1:8080", true},
		{v30, "servers: [{url: '//api.example.com'}]", "https://api.example.com", true},
		{v30, "servers: [{url: 'https://user:secret@api.example.com'}]", "", false},
		{v30, "servers: 3", "", false},
		{v30, "", "", false},
		{v20, "host: api.example.com\nbasePath: /v1\nschemes: [http, https]", "https://api.example.com/v1", false},
		{v20, "host: localhost:8080\nschemes: [http]", "http://localhost:8080", false},
		{v20, "basePath: /v1", "http://127.0.0.1:8080/v1", true},
		{v20, "", "", false},
	} {
		got := drafted(t, c.version, c.document+"\npaths: {}").Target
		if got.Value != c.want || (got.Guess != "") != c.guess {
			t.Errorf("%s: got %+v", c.document, got)
		}
	}
}

const shop = `
paths:
  /orders:
    post: {responses: {'201': {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}}
    get: {parameters: [{in: query, name: limit, schema: {type: integer, maximum: 100}}], responses: {'200': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Order'}}}}}}}
  /orders/{orderId}:
    patch: {}
    delete: {}
  /orders/{id}/refunds:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [reason], properties: {reason: {type: string}}}}}}, responses: {'201': {content: {application/json: {schema: {properties: {data: {properties: {refund_id: {type: integer}, order_id: {type: integer}}}}}}}}}}
    get: {responses: {'200': {content: {application/json: {schema: {properties: {data: {type: array}, meta: {properties: {total: {type: integer}}}}}}}}}}
  /orders/{order}/refunds/{refundId}:
    delete: {}
  /orders/{order_id}/refunds/{refund_id}/approve:
    post: {}
  /containers/create:
    post: {responses: {'200': {content: {application/json: {schema: {properties: {Id: {type: string}}}}}}}}
  /containers/{id}:
    delete: {}
  /users:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string, maxLength: 20}}}}}}, responses: {'201': {description: made}}}
    get: {parameters: [{in: query, name: name, schema: {type: string}}], responses: {'200': {content: {application/json: {schema: {properties: {users: {type: array}}}}}}}}
  /users/{userId}:
    put: {}
    delete: {}
  /settings/{name}:
    put: {parameters: [{in: path, name: name, required: true, schema: {type: string, example: colour}}]}
  /flags/{flag}:
    put: {}
  /keys:
    post: {responses: {'204': {description: none}}}
  /keys/{key}:
    delete: {}
  /tokens:
    post: {responses: {'204': {description: none}, default: {content: {application/json: {schema: {properties: {id: {type: string}}}}}}}}
  /tokens/:token:
    delete: {}
  /mails/count:
    get: {responses: {'200': {content: {application/json: {schema: {properties: {count: {type: integer}}}}}}}}
  /mails:
    post: {}
components:
  schemas:
    Order: {type: object, properties: {id: {type: string}, total: {type: number}}}
`

func TestSetups(t *testing.T) {
	d := drafted(t, v30, shop)
	for _, c := range []struct{ reason, method, template, request, setup string }{
		{"what makes the parameter", "PATCH", "/orders/{orderId}", "PATCH /orders/{{order}}", "POST /orders order=$.id"},
		{"one level up", "POST", "/orders/{id}/refunds", "POST /orders/{{order}}/refunds", "POST /orders order=$.id"},
		{"two levels, other names, a wrapper", "POST", "/orders/{order_id}/refunds/{refund_id}/approve", "POST /orders/{{order}}/refunds/{{refund}}/approve",
			"POST /orders order=$.id; POST /orders/{{order}}/refunds refund=$.data.refund_id"},
		{"a path that ends with create", "DELETE", "/containers/{id}", "DELETE /containers/{{container}}", "POST /containers/create container=$.Id"},
		{"an answer that is not described", "PUT", "/users/{userId}", "PUT /users/{{user}}", "POST /users user=$.id"},
		{"the document's own value", "PUT", "/settings/{name}", "PUT /settings/colour", ""},
		{"nothing that makes it", "PUT", "/flags/{flag}", "PUT /flags/sample", ""},
		{"an answer of errors only, parameter of a router", "DELETE", "/tokens/{token}", "DELETE /tokens/sample", ""},
		{"an answer without content", "DELETE", "/keys/{key}", "DELETE /keys/sample", ""},
	} {
		e := find(t, d, c.method, c.template)
		if e.Request != c.request || steps(e) != c.setup {
			t.Errorf("%s: got %s after %q", c.reason, e.Request, steps(e))
		}
		for _, s := range e.Setup {
			if s.Guess == "" {
				t.Errorf("%s: the set-up %s says not why", c.reason, s.Request)
			}
		}
		if made := strings.HasSuffix(e.Request, "/sample"); made != (len(e.Comments) > 0) {
			t.Errorf("%s: comments %q", c.reason, e.Comments)
		}
	}
}

func TestReferences(t *testing.T) {
	const paths = `
paths:
  /customers:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}}}}}}, responses: {'201': {content: {application/json: {schema: {properties: {customer_id: {type: string}}}}}}}}
  /orders:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [customerId, productId, count], properties: {customerId: {type: string}, productId: {type: string}, count: {type: integer}}}}}}}
  /customers/{id}/notes:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [customer_id], properties: {customer_id: {type: string}}}}}}}
  /visits:
    post: {requestBody: {content: {application/json: {schema: {type: object, required: [customerId], properties: {customerId: {type: integer}}}}}}}
  /forms:
    post: {requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, required: [customerId], properties: {customerId: {type: integer}}}}}}}
`
	d := drafted(t, v30, paths)
	e := find(t, d, "POST", "/orders")
	if got := steps(e); got != "POST /customers customer=$.customer_id" {
		t.Errorf("got %q", got)
	}
	if got, want := jsonText(e.Body.JSON), `{"customerId":"{{customer}}","productId":"{{marker}}","count":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e = find(t, d, "POST", "/customers/{id}/notes")
	if got, want := steps(e)+" "+jsonText(e.Body.JSON), `POST /customers customer=$.customer_id {"customer_id":"{{customer}}"}`; got != want {
		t.Errorf("the customer of the path: got %s, want %s", got, want)
	}
	if got, want := jsonText(find(t, d, "POST", "/visits").Body.JSON), `{"customerId":"{{customer:number}}"}`; got != want {
		t.Errorf("an id that is a number: got %s, want %s", got, want)
	}
	if got, want := jsonText(find(t, d, "POST", "/forms").Body.Form), `{"customerId":"{{customer}}"}`; got != want {
		t.Errorf("a number in a form: got %s, want %s", got, want)
	}
}

func TestLinks(t *testing.T) {
	const paths = `
paths:
  /checkouts:
    post:
      responses:
        '201':
          content: {application/json: {schema: {properties: {token: {type: string}}}}}
          links:
            pay: {operationId: pay, parameters: {path.session: '$response.body#/payment/session'}}
            cancel: {operationRef: '#/paths/~1sessions~1{session}/delete', parameters: {session: $response.header.X-Session}}
            gone: {operationRef: '#/paths/~1nothing/get'}
            odd: {operationId: pay, parameters: {session: $request.path.id}}
  /payments/{session}: {put: {operationId: pay}}
  /sessions/{session}: {delete: {}}
`
	d := drafted(t, v30, paths)
	if got := steps(find(t, d, "PUT", "/payments/{session}")); got != "POST /checkouts session=$.payment.session" {
		t.Errorf("by operationId: got %q", got)
	}
	if got := steps(find(t, d, "DELETE", "/sessions/{session}")); got != "POST /checkouts session=header X-Session" {
		t.Errorf("by operationRef: got %q", got)
	}
	if !slices.ContainsFunc(d.Left, func(s string) bool { return strings.Contains(s, "operationRef #/paths/~1nothing/get leads nowhere") }) {
		t.Errorf("left %q", d.Left)
	}
}

func TestCounters(t *testing.T) {
	d := drafted(t, v30, shop)
	for _, c := range []struct{ reason, template, want string }{
		{"list, the largest page", "/orders", "orders GET /orders?limit=100 value= length=$"},
		{"total in a wrapper, path captured", "/orders/{id}/refunds", "refunds GET /orders/{{order}}/refunds value=$.meta.total length="},
		{"filter by the marked field", "/users", "users GET /users?name={{marker:20}} value= length=$.users"},
		{"an operation that counts", "/mails", "count GET /mails/count value=$.count length="},
		{"none", "/containers/create", ""},
	} {
		e := find(t, d, "POST", c.template)
		got := ""
		for _, counter := range d.Counters {
			if slices.Contains(e.Counters, counter.Name) {
				got += fmt.Sprintf("%s %s value=%s length=%s", counter.Name, counter.Request, counter.Value, counter.Length)
				if counter.Guess == "" {
					t.Errorf("%s: no word on why", c.reason)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestCleanups(t *testing.T) {
	d := drafted(t, v30, shop)
	for _, c := range []struct{ reason, template, want string }{
		{"id", "/orders", "DELETE /orders/{{id}} [{id $.id}]"},
		{"id in a wrapper, parent in the answer", "/orders/{id}/refunds", "DELETE /orders/{{order}}/refunds/{{id}} [{order $.data.order_id} {id $.data.refund_id}]"},
		{"not described", "/users", "DELETE /users/{{id}} [{id $.id}]"},
		{"behind create", "/containers/create", "DELETE /containers/{{id}} [{id $.Id}]"},
		{"nothing in the answer", "/keys", ""},
		{"nothing that removes it", "/mails", ""},
	} {
		got := ""
		if s := find(t, d, "POST", c.template).Cleanup; s != nil {
			got = fmt.Sprint(s.Request, " ", s.Capture)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	const paths = `
paths:
  /a: {post: {operationId: createOrder}, put: {summary: Put an order.}, patch: {}, delete: {operationId: create-order}}
  /b: {post: {operationId: createOrder}, put: {summary: Put an order.}, patch: {summary: "a\nb {{c}}"}}
`
	var got []string
	for _, e := range drafted(t, v30, paths).Endpoints {
		got = append(got, e.Name)
	}
	want := "create order|Put an order|PATCH /a|create order (DELETE /a)|create order (POST /b)|Put an order (PUT /b)|a b ${RETRYSAFE_BRACES:-{{}c}}"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// TestSparse reads a document as a code generator leaves it behind: routes and nothing else.
func TestSparse(t *testing.T) {
	d := drafted(t, v30, "paths: {/orders: {get: {}, post: {requestBody: {content: {application/json: {schema: {type: object}}}}}}, '/orders/{id}': {put: {}, delete: {}}, '/orders/{id}/pay': {post: {}}}")
	var got []string
	for _, e := range d.Endpoints {
		got = append(got, e.Name+": "+steps(e)+" > "+e.Request)
	}
	want := []string{
		"POST /orders:  > POST /orders",
		"PUT /orders/{id}: POST /orders order=$.id > PUT /orders/{{order}}",
		"DELETE /orders/{id}: POST /orders order=$.id > DELETE /orders/{{order}}",
		"POST /orders/{id}/pay: POST /orders order=$.id > POST /orders/{{order}}/pay",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if c := d.Endpoints[0].Comments; len(c) != 1 || !strings.Contains(c[0], "fill it in") {
		t.Errorf("comments %q", c)
	}
}

func TestComments(t *testing.T) {
	const paths = `
paths:
  /a: {post: {deprecated: true, callbacks: {onPaid: {'{$request.body#/url}': {post: {}}}}, servers: [{url: 'https://files.example.com'}]}}
  /b: {post: {requestBody: {required: true, content: {application/zip: {}}}}}
  /c: {post: {requestBody: {content: {application/zip: {}}}}}
webhooks: {paid: {post: {}}}
`
	d := drafted(t, v31, paths)
	for i, want := range []string{"the document sends this to a server of its own: https://files.example.com|the API calls back (onPaid), which has no endpoint here: `sinks` of a plan count such calls|deprecated, says the document", "the document gives no example of the body of application/zip: put one in, or say `file: PATH`", "the document wants a body of application/zip: give one with `file: PATH`"} {
		if got := strings.Join(d.Endpoints[i].Comments, "|"); got != want {
			t.Errorf("%s: got %q", d.Endpoints[i].Request, got)
		}
	}
	left := strings.Join(d.Left, "\n")
	for _, want := range []string{"api:7:12: webhook paid is sent by the API: left out", "the body of POST /c is application/zip, which cannot be made up"} {
		if !strings.Contains(left, want) {
			t.Errorf("left %q, want %q", left, want)
		}
	}
}
