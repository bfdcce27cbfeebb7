package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/fixtures"
)

func newServeCmd(env Env) *cobra.Command {
	var o fixtures.ServeOptions
	var list, asJSON bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the built-in shop, honest or with faults",
		Long: `Run the built-in shop. It prints its base URL, one line, and serves until it is interrupted.
--fault switches faults and honest variants on by name; --list shows them with the rules that catch them.`,
		Example: `  retrysafe serve --fault check-then-insert
  RETRYSAFE_TARGET=http://127.0.0.1:PORT retrysafe run fixtures/plans/shop.yaml`,
		Args: cobra.NoArgs,
		RunE: run(func(c *cobra.Command, _ []string) error {
			switch {
			case list:
				return listVariants(env, asJSON)
			case asJSON:
				return usagef("retrysafe serve --list --json", "--json belongs to --list")
			}
			if _, err := fixtures.NewShop(o.Shop); err != nil {
				return usagef("retrysafe serve --list", "%s", err)
			}
			o.Ready = func(url string, _ []byte) { fmt.Fprintln(env.Stdout, url) }
			return fixtures.Serve(c.Context(), o)
		}),
	}
	f := c.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.BoolVar(&o.TLS, "tls", false, "serve HTTPS (self-signed; HTTP/1.1 and HTTP/2)")
	f.StringSliceVar(&o.Shop.Faults, "fault", nil, "switch on a fault or an honest variant (repeatable)")
	f.DurationVar(&o.Shop.Work, "work", 20*time.Millisecond, "handling time")
	f.DurationVar(&o.Shop.Window, "window", 200*time.Microsecond, "race window of the faults that have one")
	f.StringVar(&o.Shop.WindowKind, "window-kind", "io", "io (other requests run meanwhile) or cpu (they cannot)")
	f.DurationVar(&o.Shop.TTL, "ttl", 3*time.Second, "lifetime of keys, from the stored answer")
	f.BoolVar(&list, "list", false, "list faults and honest variants instead of serving")
	f.BoolVar(&asJSON, "json", false, "with --list: as JSON")
	_ = c.RegisterFlagCompletionFunc("fault", completeFaults)
	return c
}

func completeFaults(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, v := range fixtures.Variants() {
		out = append(out, v.Name+"\t"+v.Kind)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func listVariants(env Env, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(env.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(fixtures.Variants())
	}
	family := ""
	for _, v := range fixtures.Variants() {
		if head := v.Kind + ": " + v.Family; head != family {
			family = head
			fmt.Fprintf(env.Stdout, "\n%s\n", head)
		}
		rules := strings.Join(v.Rules, ", ")
		if rules == "" {
			rules = "clean"
		}
		fmt.Fprintf(env.Stdout, "  %-32s %s\n", v.Name, rules)
	}
	return nil
}
