package cmd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/strict"
	"retrysafe/report"
)

// coverageOptions are the flags of coverage.
type coverageOptions struct {
	min     int
	exclude []string
	format  string
}

func newCoverageCmd(env Env) *cobra.Command {
	o := &coverageOptions{}
	c := &cobra.Command{
		Use:   "coverage SPEC PLAN...",
		Short: "Name the operations of an API that have no endpoint in a plan; send nothing",
		Long: `Name the operations of an OpenAPI or Swagger document that change something (POST, PUT, PATCH, DELETE) and have no endpoint in the
plans, and endpoints that the document does not have. They are known by method and path; the base paths of both are minded, and a value in a
plan stands for a parameter of the document.

Exit code 1 when less than --min per cent have an endpoint, else 0; 2 for files that cannot be read.`,
		Example: `  retrysafe coverage openapi.yaml retrysafe.yaml --min 80
  retrysafe coverage openapi.yaml plans/*.yaml --exclude 'DELETE /internal/**' --format markdown`,
		Args: cobra.MinimumNArgs(2),
		RunE: run(func(c *cobra.Command, args []string) error {
			look, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			return o.run(env, args[0], args[1:], look)
		}),
	}
	f := c.Flags()
	f.IntVar(&o.min, "min", 100, "least percentage of operations with an endpoint that passes")
	f.StringArrayVar(&o.exclude, "exclude", nil, "operations that need no endpoint, as 'METHOD PATH' or 'PATH'; * stands for anything but a slash, ** for anything (repeatable)")
	f.StringVar(&o.format, "format", "text", "text, json or markdown")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "markdown"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o *coverageOptions) run(env Env, spec string, plans []string, look report.Options) error {
	switch {
	case o.min < 0 || o.min > 100:
		return usagef("", "--min: expected a percentage from 0 to 100, found %d", o.min)
	case !slices.Contains([]string{"text", "json", "markdown"}, o.format):
		return usagef("", "--format: expected text, json or markdown, found %q", o.format)
	}
	api, err := readAPI(env, spec)
	if err != nil {
		return err
	}
	endpoints, err := readEndpoints(env, plans)
	if err != nil {
		return err
	}
	excluded, err := o.excluded(api.operations)
	if err != nil {
		return err
	}
	c := cover(api, endpoints, excluded)
	c.API, c.Plans, c.Min = api.name, plans, o.min
	switch o.format {
	case "json":
		err = report.APICoverageJSON(env.Stdout, c)
	case "markdown":
		err = report.APICoverageMarkdown(env.Stdout, c)
	default:
		err = report.APICoverageText(env.Stdout, c, look)
	}
	if err == nil && !c.Enough() {
		return exitError(ExitViolations)
	}
	return err
}

// api is what coverage needs of a description.
type api struct {
	name       string
	operations []openapi.Operation
	// bare are the operations in the same order, under those behind the base path of the first server.
	bare, under []draft.Operation
}

func newAPI(name, base string, operations []openapi.Operation) api {
	a := api{name: name, operations: operations}
	for _, op := range operations {
		o := draft.ParseOperation(op.Method + " " + op.Path)
		a.bare, a.under = append(a.bare, o), append(a.under, o.Under(base))
	}
	return a
}

func readAPI(env Env, file string) (api, error) {
	text, name, err := readInput(env, file)
	if err != nil {
		return api{}, err
	}
	if !openapi.Is(text) {
		return api{}, usagef("retrysafe coverage openapi.yaml retrysafe.yaml", "%s: expected an OpenAPI or Swagger document, found none", name)
	}
	doc, err := openapi.Read(name, text, beside(file))
	if err != nil {
		return api{}, sourceError(err)
	}
	return newAPI(name, draft.TargetPath(doc.Draft().Target.Value), doc.Operations()), nil
}

// planned is an endpoint of one of the plans.
type planned struct {
	draft.Stated
	base string
}

func readEndpoints(env Env, plans []string) ([]planned, error) {
	var all []planned
	var wrong strict.Errors
	for _, file := range plans {
		text, name, err := readInput(env, file)
		if err != nil {
			return nil, err
		}
		if err := planMistakes(env, name, text); err != nil {
			found, ok := err.(strict.Errors)
			if !ok {
				return nil, asUsage(err)
			}
			wrong = append(wrong, found...)
			continue
		}
		parts, err := included(env, file, text)
		if err != nil {
			return nil, err
		}
		endpoints, base, err := draft.ReadStated(name, text, parts...)
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			all = append(all, planned{e, base})
		}
	}
	return all, wrong.Err()
}

// excluded says of each operation whether --exclude names it.
func (o *coverageOptions) excluded(operations []openapi.Operation) ([]bool, error) {
	out := make([]bool, len(operations))
	for _, pattern := range o.exclude {
		glob, hit := operationGlob(pattern), false
		for i, op := range operations {
			if op.Unsafe() && glob.MatchString(op.Method+" "+op.Path) {
				out[i], hit = true, true
			}
		}
		if !hit {
			var known []string
			for _, op := range operations {
				known = append(known, op.Method+" "+op.Path)
			}
			return nil, usagef("", "--exclude %q matches no operation that changes something%s", pattern, strict.DidYouMean(pattern, known))
		}
	}
	return out, nil
}

// operationGlob is a pattern of operations; without a method it is about all of them.
func operationGlob(pattern string) *regexp.Regexp {
	if method, rest, both := strings.Cut(strings.TrimSpace(pattern), " "); both {
		pattern = strings.ToUpper(method) + " " + strings.TrimSpace(rest)
	} else {
		pattern = "* " + pattern
	}
	quoted := regexp.QuoteMeta(pattern)
	for _, r := range [][2]string{{`\*\*`, "\x00"}, {`\*`, `[^/]*`}, {"\x00", `.*`}, {`\?`, `[^/]`}} {
		quoted = strings.ReplaceAll(quoted, r[0], r[1])
	}
	return regexp.MustCompile("^" + quoted + "$")
}

// cover puts the endpoints of plans to the operations of an API.
func cover(a api, endpoints []planned, excluded []bool) *report.APICoverage {
	c := &report.APICoverage{Schema: report.APICoverageV1, Missing: []report.APIOperation{}, Unknown: []report.APIEndpoint{}}
	has := make([]bool, len(a.operations))
	for _, e := range endpoints {
		if i := a.find(e); i >= 0 {
			has[i] = true
		} else {
			c.Unknown = append(c.Unknown, report.APIEndpoint{Name: e.Name, Request: e.Request, Place: placeOf(e.Pos.File, e.Pos.Line)})
		}
	}
	for i, op := range a.operations {
		switch {
		case !op.Unsafe():
		case has[i]:
			c.Operations++
			c.Covered++
		case excluded[i]:
			c.Excluded++
		default:
			c.Operations++
			c.Missing = append(c.Missing, report.APIOperation{Method: op.Method, Path: op.Path, ID: op.ID, Place: placeOf(op.File, op.Line)})
		}
	}
	c.Percent = 100
	if c.Operations > 0 {
		c.Percent = float64(c.Covered*1000/c.Operations) / 10
	}
	return c
}

// find is the operation that an endpoint calls, -1 for none: with the same path behind the base paths of both, else where one of them
// says the base in the path itself, else with values in place of parameters. Of several the one with the fewest parameters is meant.
func (a api) find(e planned) int {
	own := e.Operation
	whole := own.Under(e.base)
	if own.Host != "" {
		own.Host = ""
		whole = own
	}
	for _, same := range []func(op, request draft.Operation) bool{
		func(op, request draft.Operation) bool { return op == request },
		draft.Operation.Covers,
	} {
		for _, spelling := range []struct {
			request    draft.Operation
			operations []draft.Operation
		}{{whole, a.under}, {own, a.bare}, {own, a.under}, {whole, a.bare}} {
			best := -1
			for i, op := range spelling.operations {
				if same(op, spelling.request) && (best < 0 || op.Parameters() < spelling.operations[best].Parameters()) {
					best = i
				}
			}
			if best >= 0 {
				return best
			}
		}
	}
	return -1
}
