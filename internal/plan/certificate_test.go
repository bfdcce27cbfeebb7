package plan

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pemFiles writes a certificate and key of each name into a folder: NAME.pem, NAME.key, and both in NAME.both.
func pemFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
		write(name+".pem", cert)
		write(name+".key", private)
		write(name+".both", append(cert, private...))
	}
}

// overTLS is a plan in a folder whose callers are the given lines.
func overTLS(callers string) string {
	return "version: 1\ntarget: https://127.0.0.1:1\ncallers:\n" + callers + "\nendpoints: [{name: a, request: POST /}]"
}

func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	pemFiles(t, dir, "alice", "bob", "carol")
	p, err := Parse(filepath.Join(dir, "p"), []byte(overTLS(`  alice: {cert: alice.pem, key: alice.key}
  bob: {cert: bob.both, headers: {X-Tenant: two}}
  carol: {cert: `+filepath.Join(dir, "carol.pem")+`, key: carol.key, sign: {exec: [./sign, carol]}}
  dave: {sign: {exec: [./sign]}}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"alice", "bob", "carol"} {
		leaf, err := x509.ParseCertificate(p.Callers[i].Certificate.Certificate[0])
		if err != nil || leaf.Subject.CommonName != name {
			t.Errorf("caller %s has the certificate of %s, %v", name, leaf.Subject.CommonName, err)
		}
	}
	if d := p.Callers[3]; d.Certificate != nil || len(d.Sign) != 1 || len(p.Callers[2].Sign) != 2 || p.Callers[2].Sign[1].String() != "carol" {
		t.Errorf("callers %+v", p.Callers)
	}
	if len(p.Warnings) > 0 || len(p.Secrets) > 0 {
		t.Errorf("warnings %v, %d secrets", p.Warnings, len(p.Secrets))
	}
}

func TestCertificateMistakes(t *testing.T) {
	dir := t.TempDir()
	pemFiles(t, dir, "alice", "bob")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("empty", "")
	write("broken.key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n")
	write("encrypted.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nc2VjcmV0\n-----END ENCRYPTED PRIVATE KEY-----\n")
	write("older.key", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n")
	secret := "-----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMGByqGSM49\\n-----END PRIVATE KEY-----\\n"
	env := func(name string) (string, bool) {
		return map[string]string{"KEY": "/secret/folder"}[name], name == "KEY"
	}
	for caller, want := range map[string]string{
		"{key: alice.key}":                                 "p:4:12: key is the private key of `cert`, which is missing",
		"{cert: alice.pem}":                                "p:4:13: \"alice.pem\" holds no private key: name its file with `key`",
		"{cert: alice.pem, key: bob.key}":                  "p:4:29: the private key in \"bob.key\" is not that of the certificate in \"alice.pem\"",
		"{cert: alice.key, key: alice.key}":                "p:4:13: \"alice.key\" holds no certificate",
		"{cert: alice.pem, key: alice.pem}":                "p:4:29: \"alice.pem\" holds no private key: expected PEM with",
		"{cert: empty, key: alice.key}":                    "p:4:13: \"empty\" holds no certificate",
		"{cert: alice.pem, key: encrypted.key}":            "p:4:29: the private key in \"encrypted.key\" is encrypted",
		"{cert: alice.pem, key: older.key}":                "p:4:29: the private key in \"older.key\" is encrypted",
		"{cert: alice.pem, key: broken.key}":               "p:4:13: expected a certificate and its private key: failed to parse private key",
		"{cert: nowhere.pem, key: alice.key}":              "p:4:13: cannot read the certificate in \"nowhere.pem\" (there is no such file): paths start at the plan's folder",
		"{cert: alice.pem, key: .}":                        "p:4:29: cannot read the private key in \".\" (it is no regular file of at most 1 MiB)",
		"{cert: alice.pem, key: \"${KEY}/a.key\"}":         "p:4:29: cannot read the private key in \"${KEY}/a.key\" (there is no such file)",
		"{cert: \"\"}":                                     "p:4:13: expected the path of the PEM file with the certificate, found nothing",
		"{cert: [a]}":                                      "p:4:13: expected text, found a list",
		"{cert: alice.pem, key: \"" + secret + "\"}":       "p:4:29: expected the path of the PEM file with the private key, found its content",
		"{headers: {A: b}, cert: alice.both, refresh: 1m}": "p:4:51: refresh belongs to a caller with `exec` or `login`",
		"{cert: alice.both, refresh: 1m}":                  "p:4:34: refresh belongs to a caller with `exec` or `login`: remove it",
		"{sign: {}}":                                       "p:4:13: missing field \"exec\"",
		"{sign: ./sign}":                                   "p:4:13: expected a mapping",
		"{sign: {exec: ./sign}}":                           "p:4:20: expected a list of program and arguments",
		"{sign: {exec: [./sign, \"{{key}}\"]}}":            "p:4:30: expected no placeholder here, found {{key}}",
	} {
		_, err := Parse(filepath.Join(dir, "p"), []byte(overTLS("  a: "+caller)), env)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", caller, err, want)
			continue
		}
		for _, hidden := range []string{"MIGHAgEAMBMGByqGSM49", "/secret/folder", "c2VjcmV0"} {
			if strings.Contains(err.Error(), hidden) {
				t.Errorf("%s shows %s: %v", caller, hidden, err)
			}
		}
	}
}

// TestCertificateOverHTTP: nobody is told apart by a certificate that is never presented.
func TestCertificateOverHTTP(t *testing.T) {
	dir := t.TempDir()
	pemFiles(t, dir, "alice")
	plain := func(caller, request string) string {
		return "version: 1\ntarget: http://127.0.0.1:1\ncallers: {alice: " + caller + "}\nendpoints: [{name: a, request: " + request + "}]"
	}
	for text, want := range map[string]string{
		plain("{cert: alice.both}", "POST /"):                   "error: caller alice is known by a certificate alone, which http does not carry",
		plain("{cert: alice.both, headers: {A: b}}", "POST /"):  "warning: the certificate of caller alice is presented over https only, and the target is http://127.0.0.1:1",
		plain("{cert: alice.both}", "POST https://127.0.0.1:2"): "",
	} {
		p, err := Parse(filepath.Join(dir, "p"), []byte(text), nil)
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case len(p.Warnings) > 0:
			got = "warning: " + p.Warnings.Error()
		}
		if (want == "") != (got == "") || !strings.Contains(strings.NewReplacer(filepath.Join(dir, "p")+":3:25: ", "").Replace(got), want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
