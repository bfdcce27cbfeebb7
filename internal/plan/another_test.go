package plan

import (
	"path/filepath"
	"testing"

	"retrysafe/internal/strict"
)

// TestAnotherCaller: the second caller is identified as the first one is, with nothing of its own credentials, and the plan can be read with it.
func TestAnotherCaller(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ reason, first, want, renewed string }{
		{"a key in a header", `user: {headers: {X-Api-Key: "${API_KEY}"}}`, `other: {headers: {X-Api-Key: "${OTHER_API_KEY}"}}`,
			`user: {login: {request: POST /login, body: {user: user}, capture: {token: $.token}}, headers: {X-Api-Key: "{{token}}"}}`},
		{"a token, named after the caller", `alice: {headers: {Authorization: "Bearer ${ALICE_TOKEN:-secret}"}}`, `other: {headers: {Authorization: "Bearer ${OTHER_TOKEN}"}}`,
			`alice: {login: {request: POST /login, body: {user: alice}, capture: {token: $.token}}, headers: {Authorization: "Bearer {{token}}"}}`},
		{"written out", `a: {headers: {Authorization: Bearer 4f2a1c9d, X-Tenant: one}}`, `other: {headers: {Authorization: "Bearer ${OTHER_TOKEN}", X-Tenant: "${OTHER_X_TENANT}"}}`,
			`a: {login: {request: POST /login, body: {user: a}, capture: {token: $.token}}, headers: {Authorization: "Bearer {{token}}"}}`},
		{"the same for everybody beside a variable", `a: {headers: {X-Api-Key: "${KEY}", X-Version: two}}`, `other: {headers: {X-Api-Key: "${OTHER_KEY}", X-Version: two}}`,
			`a: {login: {request: POST /login, body: {user: a}, capture: {token: $.token}}, headers: {X-Api-Key: "{{token}}"}}`},
		{"a log-in", `user: {login: {request: POST /login, body: {name: ada, password: "${PASSWORD}", grant_type: password}, capture: {t: $.key}}, headers: {X-Key: "{{t}}"}, refresh: 5m}`,
			`other: {login: {request: POST /login, body: {name: "${OTHER_NAME}", password: "${OTHER_PASSWORD}", grant_type: password}, capture: {t: $.key}}, headers: {X-Key: "{{t}}"}, refresh: 5m}`, ""},
		{"a log-in, written out", `user: {login: {request: POST /login, form: {user: ada, password: lovelace}, capture: {t: $.t}}, headers: {Authorization: "Bearer {{t}}"}}`,
			`other: {login: {request: POST /login, form: {user: "${OTHER_USER}", password: "${OTHER_PASSWORD}"}, capture: {t: $.t}}, headers: {Authorization: "Bearer {{t}}"}}`, ""},
		{"a command", `user: {exec: [./token, user]}`, `other: {exec: [./token, other]}`, ""},
		{"a command without arguments", `user: {exec: [./token]}`, `other: {exec: [./token, other]}`, ""},
		{"a signature", `user: {sign: {exec: [./sign, "${KEY}"]}}`, `other: {sign: {exec: [./sign, "${OTHER_KEY}"]}}`, ""},
		{"an account in paths", `user: {vars: {account: a1}, headers: {X-Key: "${KEY}"}}`, `other: {vars: {account: "${OTHER_ACCOUNT}"}, headers: {X-Key: "${OTHER_KEY}"}}`, "-"},
		{"the name is taken", `other: {headers: {X-Key: "${OTHER_KEY}"}}`, `other-2: {headers: {X-Key: "${OTHER_2_KEY}"}}`, "-"},
	} {
		read := func(lines string) *Plan {
			p, err := ParseWith(filepath.Join(dir, "p"), []byte(withTop(lines)), func(string) (string, bool) { return "not-to-be-seen", true }, Overrides{})
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.reason, err, lines)
			}
			return p
		}
		p := read("callers:\n  " + c.first)
		entry, readable := p.AnotherCaller()
		if entry != c.want || readable != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.reason, entry, c.want)
		}
		if n := len(read("callers:\n  " + c.first + "\n  " + entry).Callers); n != 2 {
			t.Errorf("%s: %d callers", c.reason, n)
		}
		renewed := p.RenewedCaller()
		if c.renewed != "-" && renewed != c.renewed && !p.Callers[0].Renewable() {
			t.Errorf("%s: got\n%s\nwant\n%s", c.reason, renewed, c.renewed)
		}
		if renewed != "" && !read("callers:\n  " + renewed).Callers[0].Renewable() {
			t.Errorf("%s: %s", c.reason, renewed)
		}
	}
}

// TestAnotherCertificate: the other one's files are still to be made.
func TestAnotherCertificate(t *testing.T) {
	for _, c := range []struct{ reason, first, want, readable string }{
		{"files", `user: {cert: certs/user.pem, key: certs/key.pem}`, `other: {cert: certs/other.pem, key: certs/other-key.pem}`, `other: {cert: certs/user.pem, key: certs/key.pem}`},
		{"variables", `user: {cert: "${CERT}"}`, `other: {cert: "${OTHER_CERT}"}`, `other: {cert: "${CERT}"}`},
	} {
		doc := strict.Parse("p", []byte("{"+c.first+"}"), func(string) (string, bool) { return "x", true })
		e := doc.Root().Entries()[0]
		p := &Plan{Callers: []Caller{{Name: e.Key.Value, source: e.Value, Variables: e.Value.Variables()}}}
		if entry, readable := p.AnotherCaller(); entry != c.want || readable != c.readable {
			t.Errorf("%s: got\n%s\n%s", c.reason, entry, readable)
		}
		if renewed := p.RenewedCaller(); renewed != "" {
			t.Errorf("%s: %s, though no header identifies it", c.reason, renewed)
		}
	}
}

func TestAnotherOfNobody(t *testing.T) {
	p := mustParse(t, withTop(""))
	if entry, readable := p.AnotherCaller(); entry+readable+p.RenewedCaller() != "" {
		t.Errorf("got %q", entry)
	}
}
