package webhook

import "time"

// Scheme is how one sender of webhooks names and signs its deliveries. The fields are facts from its documentation;
// what it does not have is left at the zero value.
type Scheme struct {
	// Name is what a plan says, such as "standard-webhooks".
	Name string
	// About is one line for people, with the source.
	About string
	// IDHeaders are the headers that carry the event's id, with the same value in each of them and on every delivery of
	// the event; nil when the id is in the body.
	IDHeaders []string
	// IDPath is the JSONPath of the event's id in the body; empty when a header carries it.
	IDPath string
	// TimestampHeader carries the time of the delivery in seconds since 1970; empty when the signature's header does, or
	// when deliveries have no time.
	TimestampHeader string
	// SignatureHeader carries the signature.
	SignatureHeader string
	// AttemptHeader and ReasonHeader are sent with redeliveries only: how many there were before this one, beginning with
	// 1 for the first redelivery, and why there is one.
	AttemptHeader, ReasonHeader string
	// Tolerance is how far the time of a delivery may be from the receiver's; 0 when deliveries have no time.
	Tolerance time.Duration
	// AnswerWithin is how long the sender waits before it counts a delivery as failed; 0 when not documented.
	AnswerWithin time.Duration

	// encodedSecret is true for secrets of which only the part after whsec_ counts, as base64.
	encodedSecret bool
	// signed is what is signed before the body; {id} and {timestamp} are replaced.
	signed string
	// stamp is the prefix of the item with the time in the signature's header; empty when there is none.
	stamp string
	// prefix is what stands before a signature.
	prefix string
	// separator stands between the items of the signature's header; empty when there is only one.
	separator string
	// hex is true when a signature is written in hexadecimal digits, else it is base64 with padding.
	hex bool
}

// Find is the scheme of that name; false when there is none.
func Find(name string) (Scheme, bool) {
	for _, s := range schemes() {
		if s.Name == name {
			return s, true
		}
	}
	return Scheme{}, false
}

// Names are the names of all schemes.
func Names() []string {
	var names []string
	for _, s := range schemes() {
		names = append(names, s.Name)
	}
	return names
}

func schemes() []Scheme {
	return []Scheme{
		standard("standard-webhooks", "Standard Webhooks, standardwebhooks.com and its specification", "webhook"),
		standard("svix", "Svix, docs.svix.com/receiving: Standard Webhooks under older names", "svix"),
		{
			Name: "stripe", About: "Stripe, docs.stripe.com/webhooks: the event is named in the body",
			IDPath: "$.id", SignatureHeader: "Stripe-Signature", Tolerance: 5 * time.Minute,
			signed: "{timestamp}.", stamp: "t=", prefix: "v1=", separator: ",", hex: true,
		},
		{
			Name: "github", About: "GitHub, docs.github.com on webhooks: a redelivery keeps its id, and nothing says when it was sent",
			IDHeaders: []string{"X-GitHub-Delivery"}, SignatureHeader: "X-Hub-Signature-256", AnswerWithin: 10 * time.Second,
			prefix: "sha256=", hex: true,
		},
		{
			// Receivers tell duplicates by X-Shopify-Event-Id today, many still by X-Shopify-Webhook-Id: both keep their value.
			Name: "shopify", About: "Shopify, shopify.dev/docs/apps/build/webhooks",
			IDHeaders: []string{"X-Shopify-Event-Id", "X-Shopify-Webhook-Id"}, SignatureHeader: "X-Shopify-Hmac-Sha256",
		},
		{
			Name: "slack", About: "Slack Events API, docs.slack.dev on verifying requests and on retries: the event is named in the body",
			IDPath: "$.event_id", TimestampHeader: "X-Slack-Request-Timestamp", SignatureHeader: "X-Slack-Signature",
			AttemptHeader: "X-Slack-Retry-Num", ReasonHeader: "X-Slack-Retry-Reason",
			Tolerance: 5 * time.Minute, AnswerWithin: 3 * time.Second,
			signed: "v0:{timestamp}:", prefix: "v0=", hex: true,
		},
	}
}

// standard is a scheme of the Standard Webhooks family; names is what its headers begin with.
func standard(name, about, names string) Scheme {
	return Scheme{
		Name: name, About: about,
		IDHeaders: []string{names + "-id"}, TimestampHeader: names + "-timestamp", SignatureHeader: names + "-signature",
		Tolerance: 5 * time.Minute, encodedSecret: true,
		signed: "{id}.{timestamp}.", prefix: "v1,", separator: " ",
	}
}
