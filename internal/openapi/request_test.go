package openapi

import "testing"

func TestRequests(t *testing.T) {
	for _, c := range []struct{ reason, version, paths, request, headers, text string }{
		{"required query", v30, "/a: {post: {parameters: [{in: query, name: 'a b', required: true, schema: {type: string, example: 'x&y {{z}}'}}, {in: query, name: c}]}}", "POST /a?a+b=x%26y+%7B%7Bz%7D%7D", "", ""},
		{"list in the query", v30, "/a: {post: {parameters: [{in: query, name: ids, required: true, schema: {type: array, items: {type: integer, minimum: 3}}}]}}", "POST /a?ids=3", "", ""},
		{"object in the query", v30, "/a: {post: {parameters: [{in: query, name: f, style: deepObject, required: true, schema: {type: object, required: [x], properties: {x: {type: integer}}}}]}}", "POST /a?f%5Bx%5D=1", "", ""},
		{"JSON in the query", v30, "/a: {post: {parameters: [{in: query, name: f, required: true, content: {application/json: {schema: {type: object, example: {x: 1}}}}}]}}", "POST /a?f=%7B%22x%22%3A1%7D", "", ""},
		{"query in the path", v30, "'/a?b=1': {post: {parameters: [{in: query, name: c, required: true, schema: {default: 2}}]}}", "POST /a?b=1&c=2", "", ""},
		{"fragment in the path", v30, "'/a#first': {post: {}}", "POST /a", "", ""},
		{"two parameters in a segment", v30, "'/a/{x}:{y}': {put: {parameters: [{in: path, name: x, schema: {type: integer}}, {in: path, name: y, schema: {enum: [up]}}]}}", "PUT /a/1:up", "", ""},
		{"parameter with a pattern", v30, "'/a/{X:[0-9]+}': {put: {parameters: [{in: path, name: x, schema: {type: integer}}]}}", "PUT /a/1", "", ""},
		{"spaces and braces in the path", v30, "'/a b/{x}': {put: {parameters: [{in: path, name: x, example: 'p/{{q}}'}]}}", "PUT /a%20b/p%2F%7B%7Bq%7D%7D", "", ""},
		{"required headers", v30, "/a: {post: {parameters: [{in: header, name: X-Tenant, required: true, schema: {enum: [acme]}}, {in: header, name: X-Other}, {in: header, name: Content-Type, required: true}]}}", "POST /a", "X-Tenant: acme", ""},
		{"id of a request", v30, "/a: {post: {parameters: [{in: header, name: X-Request-ID, required: true, schema: {type: string, format: uuid}}]}}", "POST /a", "X-Request-ID: {{send.uuid}}", ""},
		{"required cookie", v30, "/a: {post: {parameters: [{in: cookie, name: region, required: true, schema: {enum: [eu]}}]}}", "POST /a", "Cookie: region=eu", ""},
		{"header in two lines", v30, "/a: {post: {parameters: [{in: header, name: X-A, required: true, example: \"a\\nb {{c}}\"}]}}", "POST /a", "X-A: a b ${RETRYSAFE_BRACES:-{{}c}}", ""},
		{"media type of its own", v30, "/a: {patch: {requestBody: {content: {application/merge-patch+json: {schema: {type: object}}}}}}", "PATCH /a", "Content-Type: application/merge-patch+json", ""},
		{"text", v30, "/a: {post: {requestBody: {content: {text/csv: {example: 'a,b'}}}}}", "POST /a", "Content-Type: text/csv", "a,b"},
		{"bytes that are not required", v30, "/a: {post: {requestBody: {content: {application/zip: {}}}}}", "POST /a", "", ""},
		{"files", v30, "/a: {post: {requestBody: {content: {multipart/form-data: {schema: {type: object, required: [f, m], properties: {f: {type: string, format: binary}, m: {type: object, example: {a: 1}}}}}}}}}", "POST /a", "Content-Type: multipart/form-data; boundary=retrysafe-part",
			"--retrysafe-part\r\nContent-Disposition: form-data; name=\"f\"; filename=\"sample.txt\"\r\nContent-Type: application/octet-stream\r\n\r\nsample\r\n" +
				"--retrysafe-part\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--retrysafe-part--\r\n"},
		{"files of 2.0", v20, "/a: {post: {parameters: [{in: formData, name: f, type: file, required: true}]}}", "POST /a", "Content-Type: multipart/form-data; boundary=retrysafe-part",
			"--retrysafe-part\r\nContent-Disposition: form-data; name=\"f\"; filename=\"sample.txt\"\r\nContent-Type: application/octet-stream\r\n\r\nsample\r\n--retrysafe-part--\r\n"},
	} {
		e := drafted(t, c.version, "paths:\n  "+c.paths).Endpoints[0]
		if e.Request != c.request || headerLines(e.Headers) != c.headers || e.Body.Text != c.text {
			t.Errorf("%s: got %q, headers %q, text %q", c.reason, e.Request, headerLines(e.Headers), e.Body.Text)
		}
	}
}

func TestForms(t *testing.T) {
	const form = "/a: {post: {requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, required: [a, b, c, d], properties: {a: {type: integer}, b: {type: object, required: [x], properties: {x: {type: boolean}}}, c: {type: array, items: {type: integer}}, d: {type: array, items: {type: integer}}}}, encoding: {d: {style: deepObject}}}}}}}"
	for _, c := range []struct{ reason, version, paths, want string }{
		{"parts of parts", v30, form, `{"a":"1","b[x]":"false","c":"1","d[0]":"1"}`},
		{"2.0", v20, "/a: {post: {parameters: [{in: formData, name: name, type: string, required: true}, {in: formData, name: n, type: integer}]}}", `{"name":"{{marker}}"}`},
	} {
		e := drafted(t, c.version, "paths:\n  "+c.paths).Endpoints[0]
		if e.Body.Form == nil || jsonText(e.Body.Form) != c.want {
			t.Errorf("%s: got %+v", c.reason, e.Body)
		}
	}
}
