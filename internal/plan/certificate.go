package plan

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// certificate reads the certificate that a caller presents, and its private key, which may stand in the same file.
func (d *decoder) certificate(c *Caller, o strict.Object) {
	cert, key := o.Get("cert"), o.Get("key")
	switch {
	case !cert.Present() && key.Present():
		key.Errorf("key is the private key of `cert`, which is missing: name the certificate's file too")
		return
	case !cert.Present():
		return
	}
	c.CertPos = cert.Pos()
	chain, ok := d.pemFile(cert, "certificate")
	if !ok {
		return
	}
	where, private := key, chain
	if !key.Present() {
		where = cert
	} else if private, ok = d.pemFile(key, "private key"); !ok {
		return
	}
	pair, err := tls.X509KeyPair(chain, private)
	switch {
	case err == nil:
		c.Certificate = &pair
	case !hasBlock(chain, "CERTIFICATE"):
		cert.Errorf("%s holds no certificate: expected PEM with -----BEGIN CERTIFICATE-----", cert.Text().Show())
	case !hasBlock(private, "PRIVATE KEY") && !key.Present():
		cert.Errorf("%s holds no private key: name its file with `key`", cert.Text().Show())
	case !hasBlock(private, "PRIVATE KEY"):
		key.Errorf("%s holds no private key: expected PEM with -----BEGIN PRIVATE KEY-----", key.Text().Show())
	case encrypted(private):
		where.Errorf("the private key in %s is encrypted: write it without a passphrase, `openssl pkey -in FILE -out NEW`", where.Text().Show())
	case strings.Contains(err.Error(), "does not match"):
		where.Errorf("the private key in %s is not that of the certificate in %s", where.Text().Show(), cert.Text().Show())
	default:
		cert.Errorf("expected a certificate and its private key: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
}

// largestPEM bounds certificates and keys: a long chain takes some 20 KB.
const largestPEM = 1 << 20

// pemFile reads a file that stands in the plan, whose content is never shown.
func (d *decoder) pemFile(v strict.Value, what string) ([]byte, bool) {
	t := v.Text()
	switch {
	case v.Kind() != strict.String || v.Unset():
		return nil, false
	case t.Value == "":
		v.Errorf("expected the path of the PEM file with the %s, found nothing", what)
		return nil, false
	case strings.Contains(t.Value, "-----BEGIN"):
		for line := range strings.Lines(t.Value) {
			d.doc.Hide(strings.TrimSpace(line))
		}
		v.Errorf("expected the path of the PEM file with the %s, found its content: keep that in a file of its own", what)
		return nil, false
	}
	content, err := d.files.Read(beside(t), largestPEM)
	if err != nil {
		v.Errorf("cannot read the %s in %s (%s): paths start at the plan's folder", what, t.Show(), whyUnread(err))
		return nil, false
	}
	return content, true
}

// whyUnread says why a file could not be read, without its path.
func whyUnread(err error) string {
	switch {
	case errors.Is(err, errOtherFile):
		return "it is no regular file of at most 1 MiB"
	case errors.Is(err, fs.ErrPermission):
		return "check its permissions"
	}
	return "there is no such file"
}

// hasBlock reports whether a text holds a PEM block whose type ends so, such as EC PRIVATE KEY.
func hasBlock(text []byte, kind string) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return true
		}
	}
	return false
}

// encrypted reports whether a text holds a private key under a passphrase, in the form of PKCS #8 or the older one.
func encrypted(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasPrefix(block.Type, "ENCRYPTED ") || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return true
		}
	}
	return false
}

// sign reads how requests are signed.
func (d *decoder) sign(v strict.Value, own *vars) []Template {
	if !v.Present() {
		return nil
	}
	return d.command(v.Object("exec").Require("exec"), names{capturesOnly: true, vars: own})
}

// checkCertificate notes a certificate that no connection would present.
func (c *completion) checkCertificate(caller Caller) {
	overTLS := func(origin string) bool { return strings.HasPrefix(origin, "https:") }
	if caller.Certificate == nil || c.plan.Target == "" || slices.ContainsFunc(c.plan.Origins(), overTLS) {
		return
	}
	if len(caller.Headers) == 0 && !caller.Renewable() && len(caller.Sign) == 0 {
		c.doc.Errorf(caller.CertPos, 1, "caller %s is known by a certificate alone, which http does not carry: expected a target such as https://..., found %s", caller.Name, c.plan.Target)
		return
	}
	c.doc.Warnf(caller.CertPos, 1, "the certificate of caller %s is presented over https only, and the target is %s", caller.Name, c.plan.Target)
}
