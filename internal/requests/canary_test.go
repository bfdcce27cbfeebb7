package requests

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"retrysafe/internal/draft"
)

// canaries numbers each § of a source: the secrets that no draft may hold.
func canaries(source string) (string, int) {
	n := 0
	return regexp.MustCompile(`§`).ReplaceAllStringFunc(source, func(string) string {
		n++
		return fmt.Sprintf("cAnary%02dq", n)
	}), n
}

var secretive = map[string]string{
	"curl.sh": `$ PROMPTED=§
export EXPORTED=§
TOKEN=§ curl -u ann:§ https://h.example/a -d pin=§
curl -H 'Authorization: Bearer §' -b 'sid=§; x=§' 'https://bob:§@h.example/orders?access_token=§&key=§&X-Amz-Signature=§' \
  -H 'X-Api-Key: §' -H 'Api-Token: §' -H 'X-Odd: aB3dEf6hIj9kLm2nOp5qR§' -e 'https://h.example/?token=§' -A 'me §' -x 'http://p:§@proxy:1' -U 'p:§' --cert 'c.pem:§' --pass § \
  --json '{"password": "§", "deep": {"list": [{"clientSecret": "§"}, {"api_key": "§"}]}, "note": "my password: §", "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi§.c2lnbg§", "text": "key sk_live_§0123456789ab"}'
curl --oauth2-bearer § https://h.example/b -F 'password=§' -F 'file=@x' -F 'xml=<token>§</token>'
curl -H 'Authorization: Custom § §' -H 'Stripe-Signature: t=1,v1=§' --url-query 'sig=§' https://h.example/c --data-binary '<a><Password>§</Password><s secret="§"/></a>' -H 'Content-Type: text/xml'
curl -H 'Authorization: §' https://h.example/d/aB3dEf6hIj9kLm2nOp5qR§ --data-urlencode 'otp=§'
curl -X POST https://h.example/e -H 'Authorization: Digest username="a", response="§"' -H 'Proxy-Authorization: Basic §' -d @- <<'END'
{"session_token": "§"}
END
`,
	"api.http": `@token = §
@host = https://ann:§@h.example
POST {{host}}/orders?api_key=§
Authorization: Basic ann:§
Cookie: sid=§
X-Auth: §

{"password": "§", "token": "{{token}}", "description": "the token is aB3dEf6hIj9kLm2nOp5qR§ and so on", "no JSON, "pin": 12§}
###
POST {{host}}/carts

{"password": "§", "token": "{{token}}", "secret": {{secret}}, "list": ["§aB3dEf6hIj9kLm2nOp5qR"]}
###
POST https://h.example/form
Authorization: Basic ann §
Content-Type: application/x-www-form-urlencoded

password=§
&a=b
###
PUT https://h.example/part
Content-Type: multipart/form-data; boundary=x

--x
Content-Disposition: form-data; name="password"

§
--x--
###
PUT https://h.example/gql
Authorization: Token token="§"
X-Request-Type: GraphQL

mutation { a(password: "§") }

{"secret": "§"}
`,
	"shop.json": `{"info": {"name": "S", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
 "auth": {"type": "basic", "basic": {"username": "u", "password": "§"}},
 "variable": [{"key": "v", "value": "§", "type": "secret"}, {"key": "apiToken", "value": "§"}, {"key": "look", "value": "aB3dEf6hIj9kLm2nOp5qR§"}, {"key": "unused_secret", "value": "§"}],
 "event": [{"listen": "test", "script": {"exec": ["const k = '§'"]}}],
 "item": [{"name": "one", "request": {"method": "POST", "url": "https://u:§@h.example/a?token=§&v={{v}}",
   "header": [{"key": "X-Secret", "value": "§"}, {"key": "A", "value": "{{apiToken}}"}, {"key": "B", "value": "{{look}}"}],
   "body": {"mode": "raw", "raw": "{\"password\": \"§\", \"a\": {\"secrets\": [\"x\"], \"access_token\": \"§\"}}"}},
   "response": [{"code": 201, "header": [{"key": "Set-Cookie", "value": "§"}], "body": "{\"id\": \"9\", \"token\": \"§\"}"}]},
  {"name": "two", "request": {"auth": {"type": "apikey", "apikey": [{"key": "key", "value": "Odd"}, {"key": "value", "value": "§"}]}, "method": "POST", "url": "https://h.example/b"}},
  {"name": "three", "request": {"auth": {"type": "apikey", "apikey": {"key": "q", "value": "§", "in": "query"}}, "method": "POST", "url": "https://h.example/c"}},
  {"name": "four", "request": {"auth": {"type": "oauth2", "oauth2": {"accessToken": "§"}}, "method": "POST", "url": "https://h.example/d",
    "body": {"mode": "urlencoded", "urlencoded": [{"key": "password", "value": "§"}]}}},
  {"name": "five", "request": {"auth": {"type": "bearer", "bearer": {"token": "§"}}, "method": "POST", "url": "https://h.example/e",
    "body": {"mode": "formdata", "formdata": [{"key": "client_secret", "value": "§"}]}}},
  {"name": "six", "request": {"method": "POST", "url": "https://h.example/f", "body": {"mode": "graphql", "graphql": {"query": "mutation { a }", "variables": "{\"token\": \"§\"}"}}}}
 ]}`,
	"s.har": `{"log": {"pages": [{"title": "§"}], "comment": "§", "entries": [
 {"comment": "§", "request": {"method": "GET", "url": "https://h.example/?token=§", "headers": [{"name": "Cookie", "value": "a=§"}]}, "response": {"status": 200, "content": {"text": "<html>§"}}},
 {"request": {"method": "GET", "url": "https://h.example/orders?token=§", "headers": []}, "response": {"status": 200, "content": {"text": "{\"items\": [{\"id\": \"§\"}], \"§\": 1}"}}},
 {"request": {"method": "POST", "url": "https://h.example/orders?sid=§", "cookies": [{"name": "sid", "value": "§"}], "headers": [{"name": "Authorization", "value": "Bearer §"}, {"name": ":authority", "value": "h.example"}, {"name": "X-Session", "value": "§"}],
  "queryString": [{"name": "sid", "value": "§"}], "postData": {"mimeType": "application/json", "text": "{\"password\": \"§\", \"cvv\": \"§\"}"}},
  "response": {"status": 201, "cookies": [{"name": "s", "value": "§"}], "headers": [{"name": "Set-Cookie", "value": "s=§"}, {"name": "Location", "value": "/orders/§"}], "redirectURL": "§", "content": {"text": "{\"id\": \"7\", \"token\": \"§\", \"name\": \"§\"}"}}},
 {"request": {"method": "POST", "url": "https://h.example/login", "headers": [], "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "password", "value": "§"}]}}, "response": {"status": 200, "content": {"text": "§"}}},
 {"request": {"method": "POST", "url": "https://h.example/profile", "headers": [], "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "password", "value": "§"}, {"name": "n", "value": "1"}]}}, "response": {"status": 200}},
 {"request": {"method": "POST", "url": "https://h.example/photo", "headers": [], "postData": {"mimeType": "multipart/form-data; boundary=x", "text": "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n§\r\n--x--\r\n"}}, "response": {"status": 200}},
 {"request": {"method": "POST", "url": "https://u:§@other.example/x?token=§", "headers": []}, "response": {"status": 200}}
]}}`,
}

func TestNoSecretGetsIntoADraft(t *testing.T) {
	for name, source := range secretive {
		t.Run(name, func(t *testing.T) {
			text, n := canaries(source)
			d, err := read(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Endpoints) < 2 {
				t.Fatalf("%d endpoints: the source is not read", len(d.Endpoints))
			}
			var written bytes.Buffer
			if err := draft.Write(&written, d); err != nil {
				t.Fatal(err)
			}
			got := show(t, d) + written.String()
			for i := 1; i <= n; i++ {
				if canary := fmt.Sprintf("cAnary%02dq", i); strings.Contains(got, canary) {
					t.Errorf("%s of %d is in the draft:\n%s", canary, n, got)
				}
			}
		})
	}
}

// What was a secret in its own place is one wherever it is told again, also for words that no rule knows.
func TestSecretsAreHiddenWhereverTheyOccur(t *testing.T) {
	d, err := Curl("curl", `curl -u ann:tr0ub4dor -H 'X-Note: say tr0ub4dor' 'https://h.example/rooms/tr0ub4dor' -d '{"motto": "tr0ub4dor!"}' -H 'Content-Type: application/json'`)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, d); strings.Contains(got, "tr0ub4dor") {
		t.Error(got)
	}
}
