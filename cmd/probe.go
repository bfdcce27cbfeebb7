package cmd

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

// probeOptions are the flags of probe; those that curl has mean what they mean there.
type probeOptions struct {
	run                runOptions
	method             string
	headers            []string
	data, json         []string
	user               string
	keyHeader, keyJSON string
	count, otherBody   string
	required           bool
	lifetime, settle   string
}

func newProbeCmd(env Env) *cobra.Command {
	o := &probeOptions{}
	c := &cobra.Command{
		Use:   "probe URL",
		Short: "Test one endpoint without a plan, with curl's flags",
		Long: `Test one endpoint without a plan. The flags that curl has mean what they mean there.
{{marker}} in the body, a header or --count is replaced by a text that is unique for each key, so that the
effects of each key can be counted.`,
		Example: `  retrysafe probe http://127.0.0.1:8080/orders \
    --json '{"qty": 1, "reference": "{{marker}}"}' \
    --count '/orders/count?reference={{marker}} $.count'`,
		Args: cobra.ExactArgs(1),
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			text, err := o.plan(env, args[0])
			if err != nil {
				return err
			}
			p, err := plan.ParseWith("", text, nil, o.run.overrides())
			if err != nil {
				return flagError("retrysafe probe --help", err)
			}
			j, err := newJob(env, p, &o.run)
			if err != nil {
				return err
			}
			j.asFlag = probeFlag
			if o.run.dryRun {
				return dryRun(env, []*job{j})
			}
			return runAndReport(c.Context(), env, []*job{j}, opts)
		}),
	}
	o.flags(c)
	return c
}

func (o *probeOptions) flags(c *cobra.Command) {
	o.run.flags(c)
	f := c.Flags()
	f.StringVarP(&o.method, "request", "X", "", "method (default POST with a body, else GET)")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "header line, as 'Name: value' (repeatable)")
	f.StringArrayVarP(&o.data, "data", "d", nil, "body; @FILE reads a file, @- standard input; repeated ones are joined by &")
	f.StringArrayVar(&o.json, "json", nil, "JSON body with its headers; @FILE and @- as for --data")
	f.StringVarP(&o.user, "user", "u", "", "USER:PASSWORD for basic authentication")
	f.StringVar(&o.keyHeader, "key-header", "", "header that carries the key (default Idempotency-Key)")
	f.StringVar(&o.keyJSON, "key-json", "", "JSONPath of the body field that carries the key, instead of a header")
	f.StringVar(&o.count, "count", "", "counter: 'URL JSONPATH', 'URL header NAME' or 'URL length JSONPATH' (JSONPath default $.count)")
	f.StringVar(&o.otherBody, "other-body", "", "JSON merge patch (RFC 7396) that makes a different valid body")
	f.BoolVar(&o.required, "key-required", false, "a request without a key must be refused")
	f.StringVar(&o.settle, "settle", "", "how long the counter must be still before it counts as final, such as 300ms")
	f.StringVar(&o.lifetime, "key-lifetime", "", "how long a key is remembered after its first answer, such as 24h")
}

// plan writes the plan that the flags stand for. JSON is YAML, so the endpoint's body goes in as it was given.
func (o *probeOptions) plan(env Env, target string) ([]byte, error) {
	u, err := url.Parse(target)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, usagef("retrysafe probe http://127.0.0.1:8080/orders --json '{...}'", "expected an absolute http or https URL, found %q", target)
	}
	base := u.Scheme + "://" + u.Host
	ep := object{}
	headers := object{}
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usagef("", "-H: expected 'Name: value', found %q", h)
		}
		headers.set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	body, isJSON, err := o.body(env)
	if err != nil {
		return nil, err
	}
	switch m := o.methodOr(body != nil); m {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil, usagef("retrysafe probe URL --json '{...}', or -X POST", "a %s creates nothing that could be created twice: give a body or another method", m)
	}
	ep.set("name", cmp.Or(u.EscapedPath(), "/"))
	ep.set("request", o.methodOr(body != nil)+" "+pathOf(u))
	ep.set("kind", "create")
	ep.raw("key", o.keyPlace())
	if o.required {
		ep.set("required", true)
	}
	if o.settle != "" {
		ep.set("settle", o.settle)
	}
	if o.lifetime != "" {
		ep.set("key_lifetime", o.lifetime)
	}
	switch {
	case body == nil:
	case json.Valid(body) && (isJSON || jsonHeader(headers)):
		ep.raw("body", plainJSON(body))
	default:
		ep.set("text", string(body))
		if !headers.has("Content-Type") {
			headers.set("Content-Type", "application/x-www-form-urlencoded") // curl's default for -d
		}
	}
	if isJSON && !headers.has("Accept") {
		headers.set("Accept", "application/json")
	}
	if o.otherBody != "" {
		if !json.Valid([]byte(o.otherBody)) {
			return nil, usagef("", "--other-body: expected JSON, found %q", o.otherBody)
		}
		ep.raw("other_body", plainJSON([]byte(o.otherBody)))
	}
	doc := object{}
	doc.set("version", 1)
	doc.set("target", base)
	o.addCaller(&doc, &headers)
	if len(headers.text) > 0 {
		ep.raw("headers", headers.bytes())
	}
	if o.count != "" {
		counter, err := o.counter()
		if err != nil {
			return nil, err
		}
		doc.raw("counters", []byte(`{"effects": `+string(counter)+`}`))
		ep.raw("counters", []byte(`{"effects": 1}`))
	}
	doc.raw("endpoints", append(append([]byte("["), ep.bytes()...), ']'))
	return doc.bytes(), nil
}

// addCaller makes credentials a caller, so that they are treated as secrets.
func (o *probeOptions) addCaller(doc, headers *object) {
	credentials := object{}
	if o.user != "" {
		credentials.set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(o.user)))
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token"} {
		if value, ok := headers.take(name); ok {
			credentials.set(name, value)
		}
	}
	if len(credentials.text) > 0 {
		doc.raw("callers", []byte(`{"caller": {"headers": `+string(credentials.bytes())+`}}`))
	}
}

func (o *probeOptions) methodOr(body bool) string {
	switch {
	case o.method != "":
		return strings.ToUpper(o.method)
	case body:
		return http.MethodPost
	}
	return http.MethodGet
}

func (o *probeOptions) keyPlace() []byte {
	place := object{}
	switch {
	case o.keyJSON != "":
		place.set("json", o.keyJSON)
	case o.keyHeader != "":
		place.set("header", o.keyHeader)
	default:
		place.set("header", "Idempotency-Key")
	}
	return place.bytes()
}

// body joins the data as curl does. It is nil when no flag gives one.
func (o *probeOptions) body(env Env) (text []byte, isJSON bool, err error) {
	if len(o.data) > 0 && len(o.json) > 0 {
		return nil, false, usagef("", "-d and --json cannot be used together")
	}
	parts, separator := o.data, "&"
	if len(o.json) > 0 {
		parts, separator, isJSON = o.json, "", true
	}
	for i, p := range parts {
		piece, err := dataOf(env, p)
		if err != nil {
			return nil, false, usagef("", "%s", err)
		}
		if i > 0 {
			text = append(text, separator...)
		}
		text = append(text, piece...)
	}
	if isJSON && !json.Valid(text) {
		return nil, false, usagef("", "--json: expected JSON, found %q", text)
	}
	return text, isJSON, nil
}

func dataOf(env Env, arg string) ([]byte, error) {
	switch {
	case arg == "@-":
		return readAll(env.Stdin, "standard input")
	case strings.HasPrefix(arg, "@"):
		return readFile(arg[1:])
	}
	return []byte(arg), nil
}

// counter reads 'URL JSONPATH', 'URL header NAME' or 'URL length JSONPATH'.
func (o *probeOptions) counter() ([]byte, error) {
	fields := strings.Fields(o.count)
	if len(fields) > 0 && fields[0] == http.MethodGet {
		fields = fields[1:]
	}
	c := object{}
	switch {
	case len(fields) == 1:
		c.set("value", "$.count")
	case len(fields) == 2:
		c.set("value", fields[1])
	case len(fields) == 3 && (fields[1] == "header" || fields[1] == "length"):
		c.set(fields[1], fields[2])
	default:
		return nil, usagef("", "--count: expected 'URL JSONPATH', 'URL header NAME' or 'URL length JSONPATH', found %q", o.count)
	}
	c.set("http", "GET "+fields[0])
	return c.bytes(), nil
}

// probeFlag says with which flag a line of plan is given to probe; it gives other lines back as they are.
func probeFlag(line string) string {
	for prefix, flag := range map[string]string{
		"required:":     "--key-required",
		"key_lifetime:": "--key-lifetime 24h",
		"other_body:":   "--other-body '{\"FIELD\": \"ANOTHER VALUE\"}'",
		"counters:":     "--count '/PATH?reference={{marker}} $.count'",
	} {
		if strings.HasPrefix(line, prefix) {
			return flag
		}
	}
	return line
}

func pathOf(u *url.URL) string {
	p := u.EscapedPath()
	if p == "" {
		p = "/"
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

func jsonHeader(headers object) bool {
	v, ok := headers.get("Content-Type")
	return ok && strings.Contains(v, "json")
}

// probeError says that a plan made from flags is wrong without pointing at lines that the user never wrote.
func flagError(hint string, err error) error {
	var found strict.Errors
	if !errors.As(err, &found) {
		return err
	}
	var lines []string
	for _, e := range found {
		lines = append(lines, e.Message)
	}
	return usagef(hint, "%s", strings.Join(lines, "\n"))
}
