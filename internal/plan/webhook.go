package plan

import (
	"encoding/base64"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/internal/webhook"
)

// secretPrefix marks the secrets of Standard Webhooks (specification 1.0.0, "Symmetric"), Svix and Stripe.
const secretPrefix = "whsec_"

// eventPlace is where a scheme's deliveries carry the id that stays the same when an event is delivered again.
func eventPlace(scheme string) trace.KeyPlace {
	found, ok := webhook.Find(scheme)
	switch {
	case !ok:
		return trace.KeyPlace{}
	case found.IDPath != "":
		return trace.KeyPlace{In: "json", Name: found.IDPath}
	}
	return trace.KeyPlace{In: "header", Name: found.IDHeaders[0]}
}

// webhook reads how deliveries are signed; nil when the plan does not say.
func (d *decoder) webhook(o strict.Object) *Webhook {
	v := o.Get("webhook")
	if !v.Present() {
		return nil
	}
	if kind := o.Get("kind"); kind.Kind() == strict.String && kind.Text().Value != "webhook" {
		kind.Errorf("expected kind webhook beside `webhook:`, found %s: remove one of them", kind.Text().Show())
	}
	fields := v.Object("scheme", "secret")
	w := &Webhook{Scheme: fields.Require("scheme").Enum(webhook.Names()...)}
	d.noteSecret(fields.Get("secret"))
	w.Secret = webhookSecret(fields.Require("secret"), w.Scheme)
	return w
}

// webhookSecret reads a secret without ever showing it.
func webhookSecret(v strict.Value, scheme string) string {
	secret := secretText(v).Value
	if v.Kind() == strict.String && secret == "" {
		v.Errorf("expected the secret that deliveries are signed with, found nothing")
		return ""
	}
	if v.Kind() != strict.String || scheme != "standard-webhooks" && scheme != "svix" {
		return secret
	}
	if _, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix)); err != nil {
		v.Errorf("expected a secret of %s: %s and base64 with padding; found another text", scheme, secretPrefix)
	}
	if !strings.HasPrefix(secret, secretPrefix) {
		return secretPrefix + secret
	}
	return secret
}
