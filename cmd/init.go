package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/draft"
	"retrysafe/internal/plan"
	"retrysafe/internal/requests"
)

// initOptions are the flags of init.
type initOptions struct {
	output, target, from string
	curl                 []string
	endpoints, tags      []string
	verbose              bool
}

func newInitCmd(env Env) *cobra.Command {
	o := &initOptions{}
	c := &cobra.Command{
		Use:   "init [SOURCE...] [-- curl ARGS...]",
		Short: "Write a plan from an OpenAPI document, recorded requests or a curl command; send nothing",
		Long: `Write a plan from what there is: an OpenAPI document (3.0, 3.1, Swagger 2.0), the recording of a browser (HAR), a Postman
collection, a .http or .rest file, a curl command. Several are put together; "-" is standard input. Without any, a plan of one
endpoint to edit. Nothing is sent, and nothing is fetched.

What the source does not say is guessed, and marked in the plan with the reason. Credentials are never written: they become variables.

Where the plan exists already, what it lacks is added, and everything in it stays as it is, byte by byte: endpoints are known again by
method and path. An endpoint that was commented out stays out. Endpoints that the source no longer has are named, not removed.`,
		Example: `  retrysafe init openapi.yaml
  retrysafe init recording.har --endpoint 'create *' --output orders.yaml
  retrysafe init -- curl -X POST https://api.example.com/orders --json '{"qty": 1}'`,
		RunE: run(func(c *cobra.Command, args []string) error {
			files, words := args, []string(nil)
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				files, words = args[:dash], args[dash:]
			}
			return o.run(env, files, words)
		}),
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if slices.Contains(c.Flags().Args(), "curl") {
			return usagef("retrysafe init -- curl ...", "%s: a curl command stands behind --, so that its flags are not taken for those of init", err)
		}
		return c.Parent().FlagErrorFunc()(c, err)
	})
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", plan.FileNames()[0], "the plan to write or to add to, - for standard output")
	f.StringVar(&o.target, "target", "", "base URL in place of the source's, with the path before that of the requests")
	f.StringVar(&o.from, "from", "", "what the sources are, where the content does not tell: "+strings.Join(formatNamesOf(formats()), ", "))
	f.StringArrayVar(&o.curl, "curl", nil, "a whole curl command as one text, such as a browser copies it (repeatable)")
	f.StringSliceVar(&o.endpoints, "endpoint", nil, "take only these endpoints (names or patterns such as 'create *', repeatable)")
	f.StringSliceVar(&o.tags, "tag", nil, "take only endpoints with one of these tags (names or patterns, repeatable)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say everything that was left out, and why")
	_ = c.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(formatNamesOf(formats()), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o *initOptions) run(env Env, files, words []string) error {
	existing, err := o.existing()
	if err != nil {
		return err
	}
	if len(files)+len(words)+len(o.curl) == 0 {
		return o.start(env, existing)
	}
	sources, err := o.read(env, files, words)
	if err != nil {
		return err
	}
	if err := o.selectFrom(sources); err != nil {
		return err
	}
	m := imported{env: env, o: o, before: existing, text: existing}
	if len(bytes.TrimSpace(existing)) > 0 {
		if err := planMistakes(env, o.output, existing); err != nil {
			return err
		}
		if m.included, err = included(env, o.output, existing); err != nil {
			return err
		}
	}
	for i := range sources {
		if o.target != "" {
			sources[i].Target = draft.Text{Value: strings.TrimRight(o.target, "/")}
		}
		if err := m.merge(&sources[i]); err != nil {
			return err
		}
	}
	return m.finish()
}

// existing is the plan to add to; nil when there is none yet.
func (o *initOptions) existing() ([]byte, error) {
	if o.output == "-" {
		return nil, nil
	}
	text, err := readFile(o.output)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, asUsage(err)
}

// start writes the plan of one endpoint.
func (o *initOptions) start(env Env, existing []byte) error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"--target", o.target != ""}, {"--from", o.from != ""}, {"--endpoint", o.endpoints != nil}, {"--tag", o.tags != nil}} {
		if f.given {
			return usagef("retrysafe init openapi.yaml", "%s is about a source: expected one, found none", f.name)
		}
	}
	if len(existing) > 0 {
		return usagef("retrysafe init openapi.yaml, or --output FILE", "%s is there already, and no source says what to add to it", o.output)
	}
	if err := o.write(env, draft.Starter()); err != nil {
		return err
	}
	if o.output != "-" {
		fmt.Fprintf(env.Stderr, "%s: a plan of one endpoint to edit\nset: export %s=http://127.0.0.1:8080\nnext: retrysafe validate%s\n", o.output, draft.TargetVariable, o.argument())
	}
	return nil
}

// argument is the plan's name behind a command; empty for the one that is found without.
func (o *initOptions) argument() string {
	if o.output == plan.FileNames()[0] {
		return ""
	}
	return " " + o.output
}

func (o *initOptions) write(env Env, text []byte) error {
	if o.output == "-" {
		_, err := env.Stdout.Write(text)
		return err
	}
	return asUsage(replaceFile(o.output, text))
}

// read reads all sources before anything is written.
func (o *initOptions) read(env Env, files, words []string) ([]source, error) {
	var sources []source
	add := func(s source, err error) error {
		sources = append(sources, s)
		return err
	}
	for _, file := range files {
		if err := add(readSource(env, file, o.from)); err != nil {
			return nil, err
		}
	}
	for _, line := range o.curl {
		if err := add(curlSource(func() (draft.Draft, error) { return requests.Curl("curl", line) })); err != nil {
			return nil, err
		}
	}
	if len(words) > 0 {
		if err := add(curlSource(func() (draft.Draft, error) { return requests.CurlWords(words) })); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// selectFrom keeps the endpoints that --endpoint and --tag name.
func (o *initOptions) selectFrom(sources []source) error {
	if len(o.endpoints)+len(o.tags) == 0 {
		return nil
	}
	var all []*draft.Endpoint
	for i := range sources {
		for j := range sources[i].Endpoints {
			all = append(all, &sources[i].Endpoints[j])
		}
	}
	const list = "retrysafe init SOURCE --output -"
	chosen, err := pick(all, o.endpoints, "endpoint", list, func(e *draft.Endpoint) []string { return []string{e.Name} })
	if err != nil {
		return err
	}
	tagged, err := pick(all, o.tags, "tag", list, func(e *draft.Endpoint) []string { return e.Tags })
	if err != nil {
		return err
	}
	if chosen, err = both(chosen, tagged, "--endpoint and --tag"); err != nil {
		return err
	}
	for i := range sources {
		var kept []draft.Endpoint
		for j := range sources[i].Endpoints {
			if e := &sources[i].Endpoints[j]; slices.Contains(chosen, e) {
				kept = append(kept, *e)
			}
		}
		sources[i].Select(kept)
		sources[i].whole = false
	}
	return nil
}
