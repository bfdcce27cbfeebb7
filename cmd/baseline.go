package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retrysafe/internal/baseline"
	"retrysafe/scenarios"
)

// baselineOptions are the flags of commands that mind accepted violations.
type baselineOptions struct {
	baselineFile   string
	strictBaseline bool
}

func (o *baselineOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.baselineFile, "baseline", "", "file of accepted violations: they do not fail, new and expired ones do (retrysafe baseline update writes it)")
	f.BoolVar(&o.strictBaseline, "strict-baseline", false, "fail also when the baseline names violations that are fixed")
}

// read reads the baseline; nil without one.
func (o *baselineOptions) read(rules []scenarios.Rule) (*baseline.Baseline, error) {
	if o.baselineFile == "" {
		if o.strictBaseline {
			return nil, usagef("", "--strict-baseline: expected --baseline FILE with it")
		}
		return nil, nil
	}
	text, err := readFile(o.baselineFile)
	if err != nil {
		return nil, usagef("retrysafe baseline update FILE RESULTS --reason TEXT", "--baseline: %s", err)
	}
	return baseline.Parse(o.baselineFile, text, ruleIDs(rules))
}

func ruleIDs(rules []scenarios.Rule) []string {
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.ID)
	}
	return ids
}

func newBaselineCmd(env Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "baseline",
		Short: "Keep a file of accepted violations, so that only new ones fail",
		Args:  cobra.NoArgs,
		RunE: run(func(*cobra.Command, []string) error {
			return usagef("retrysafe baseline update --help", "expected a command: update")
		}),
	}
	var reason, owner, expires string
	update := &cobra.Command{
		Use:   "update FILE RESULTS",
		Short: "Accept what fails in a recorded run, take out what is fixed",
		Long: `Accept what fails in a recorded run: violations that the baseline does not have are added with --reason, --owner and --expires, and
entries whose violation is fixed are taken out. Entries that the run did not judge stay, and so do comments and edits by hand. Entries
that have expired get the day of --expires.`,
		Example: "  retrysafe baseline update known.yaml results.json --reason 'rewritten in May, SHOP-17' --owner payments --expires 2026-06-30",
		Args:    cobra.ExactArgs(2),
		RunE: run(func(_ *cobra.Command, args []string) error {
			t := baseline.Terms{Reason: strings.TrimSpace(reason), Owner: owner}
			if expires != "" {
				var err error
				if t.Expires, err = baseline.Day(expires); err != nil {
					return usagef("", "--expires: %s", err)
				}
				if (&baseline.Entry{Expires: t.Expires}).Expired(time.Now()) {
					return usagef("", "--expires: %s is over: name a day to come", expires)
				}
			}
			return updateBaseline(env, args[0], args[1], t)
		}),
	}
	f := update.Flags()
	f.StringVar(&reason, "reason", "", "why new violations are accepted (required when there are any)")
	f.StringVar(&owner, "owner", "", "who answers for them")
	f.StringVar(&expires, "expires", "", "last day on which they are accepted, such as 2026-12-31")
	c.AddCommand(update)
	return c
}

// updateBaseline brings a baseline up to date with a recorded run.
func updateBaseline(env Env, file, results string, t baseline.Terms) error {
	rules, err := scenarios.Rules()
	if err != nil {
		return err
	}
	r, err := readResults(env, results, nil)
	if err != nil {
		return err
	}
	text, err := readFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("", "%s", err)
	}
	out, change, err := baseline.Update(file, text, r, t, ruleIDs(rules), time.Now())
	if err != nil {
		return err
	}
	if len(change.Added) > 0 && t.Reason == "" {
		return usagef("", "--reason: expected why %s accepted, found nothing: the baseline stays as it is", violations(len(change.Added)))
	}
	if out != string(text) {
		if err := replaceFile(file, []byte(out)); err != nil {
			return usagef("", "%s", err)
		}
	}
	tellChange(env, file, change)
	return nil
}

func violations(n int) string {
	if n == 1 {
		return "1 violation is"
	}
	return fmt.Sprintf("%d violations are", n)
}

// tellChange says what became of the entries.
func tellChange(env Env, file string, c baseline.Change) {
	for _, part := range []struct {
		sign    string
		entries []baseline.Entry
		note    string
	}{
		{"+", c.Added, ""}, {"-", c.Removed, " (fixed)"}, {"~", c.Renewed, " (had expired, accepted again)"},
		{"!", c.Expired, " (has expired: --expires DAY accepts it again)"},
	} {
		for _, e := range part.entries {
			fmt.Fprintf(env.Stdout, "%s %s in %s on %s%s\n", part.sign, e.Rule, e.Scenario, e.Endpoint, part.note)
		}
	}
	fmt.Fprintf(env.Stdout, "%s: %d added, %d removed, %d kept\n", file, len(c.Added), len(c.Removed), c.Kept+len(c.Renewed)+len(c.Expired))
	if c.Rewritten {
		fmt.Fprintf(env.Stderr, "retrysafe: %s was written anew: its layout could not be kept, comments are gone\n", file)
	}
}
