package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/fixtures"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	fixtures.ServeOptions
	list, asJSON     bool
	supervise, child bool
	inherited        bool
}

func newServeCmd(env Env) *cobra.Command {
	o := &serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the built-in shop, honest or with faults",
		Long: `Run the built-in shop. It prints its base URL, one line, and serves until it is interrupted.
--fault switches faults and honest variants on by name; --list shows them with the rules that catch them.

--instances N runs N of them behind a balancer that takes turns: the first line is the balancer's URL, then comes one
line for each instance. Each has its own store, unless --shared or a store outside the process makes it one.

--store says where rows and keys are kept: memory, sqlite=FILE, postgres=DSN, mysql=DSN (MariaDB too) or redis=ADDR. A shop
takes the schema, database or prefix retrysafe_shop, or the one that the address names: search_path=NAME in the DSN of
PostgreSQL, the database at the end of that of MySQL, ?prefix=NAME behind ADDR. It makes what is missing and leaves it there.
Faults of the families sql and redis are techniques that only such stores have.

--supervise runs the shop as a child process. The last line is "control URL": POST URL/crash kills the shop and starts it
again, POST URL/restart ends it in peace and starts it again; both answer 200 when it listens.

--inherited runs a booking service in place of the shop, as a code generator writes one: it knows no idempotency keys. Its OpenAPI
document is at /openapi.yaml.

For tests, and not part of the API under test: POST /_/hold freezes the next execution with a key until POST /_/release
(10 s at most), POST /_/break and /_/heal make a dependency fail, POST /_/expire?key=K forgets a key, POST /_/reset
starts anew.`,
		Example: `  retrysafe serve --fault check-then-insert
  retrysafe serve --instances 2 --shared --fault memory-per-instance
  retrysafe serve --supervise --store sqlite=shop.db
  retrysafe serve --fault select-then-insert --store postgres=postgres://postgres@127.0.0.1:5432/postgres
  retrysafe serve --fault redis-get-then-set --store redis=127.0.0.1:6379
  RETRYSAFE_TARGET=http://127.0.0.1:PORT retrysafe run fixtures/plans/shop.yaml`,
		Args: cobra.NoArgs,
		RunE: run(func(c *cobra.Command, _ []string) error { return o.run(c.Context(), env) }),
	}
	o.flags(c)
	return c
}

func (o *serveOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.BoolVar(&o.TLS, "tls", false, "serve HTTPS (self-signed; HTTP/1.1 and HTTP/2)")
	f.StringSliceVar(&o.Shop.Faults, "fault", nil, "switch on a fault or an honest variant (repeatable)")
	f.DurationVar(&o.Shop.Work, "work", 20*time.Millisecond, "handling time")
	f.DurationVar(&o.Shop.Window, "window", 200*time.Microsecond, "race window of the faults that have one")
	f.StringVar(&o.Shop.WindowKind, "window-kind", "io", "io (other requests run meanwhile) or cpu (they cannot)")
	f.DurationVar(&o.Shop.TTL, "ttl", 3*time.Second, "lifetime of keys, from the stored answer")
	f.StringVar(&o.Shop.Provider, "provider", "", "URL that payments are charged at, by POST URL/charges (default: a stub inside the shop)")
	f.StringVar(&o.Shop.SMTP, "smtp", "", "mail server, as HOST:PORT, that a mail about each payment is sent to (default: none)")
	f.StringVar(&o.Store, "store", fixtures.StoreMemory, "where rows and keys are kept: memory, sqlite=FILE, postgres=DSN, mysql=DSN or redis=ADDR")
	f.IntVar(&o.Instances, "instances", 1, "how many instances run behind a balancer")
	f.BoolVar(&o.Shared, "shared", false, "with --instances: one store in memory for all")
	f.BoolVar(&o.supervise, "supervise", false, "run the shop as a child process that can be killed and restarted")
	f.BoolVar(&o.inherited, "inherited", false, "run a booking service without any idempotency in place of the shop; its document is at /openapi.yaml")
	f.BoolVar(&o.list, "list", false, "list faults and honest variants instead of serving")
	f.BoolVar(&o.asJSON, "json", false, "with --list: as JSON")
	// What --supervise says to its child.
	f.BoolVar(&o.child, "until-stdin-ends", false, "end when standard input does")
	f.StringSliceVar(&o.InstanceAddrs, "instance-addr", nil, "addresses of the instances")
	for _, name := range []string{"until-stdin-ends", "instance-addr"} {
		_ = f.MarkHidden(name)
	}
	_ = c.RegisterFlagCompletionFunc("fault", completeFaults)
}

func (o *serveOptions) run(ctx context.Context, env Env) error {
	switch {
	case o.list:
		return listVariants(env, o.asJSON)
	case o.asJSON:
		return usagef("retrysafe serve --list --json", "--json belongs to --list")
	case o.Instances < 1:
		return usagef("retrysafe serve --help", "--instances: expected 1 or more, found %d", o.Instances)
	case o.supervise && o.TLS:
		return usagef("retrysafe serve --supervise", "--supervise and --tls do not go together: a restarted shop would have another certificate")
	}
	for _, name := range o.Shop.Faults {
		if _, known := fixtures.Find(name); !known {
			return unknown("retrysafe serve --list", "fault or honest variant", name, variantNames())
		}
	}
	if err := o.Validate(); err != nil {
		return usagef("retrysafe serve --help", "%s", err)
	}
	if o.inherited {
		return o.serveInherited(ctx, env)
	}
	if o.supervise {
		return o.superviseChild(ctx, env)
	}
	if o.child {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, env.Stdin)
			end()
		}()
	}
	var instances []string
	o.InstancesReady = func(urls []string) { instances = urls }
	o.Ready = func(url string, _ []byte) { printLines(env, append([]string{url}, instances...)) }
	return fixtures.Serve(ctx, o.ServeOptions)
}

// serveInherited runs the booking service, which has none of what the shop can be told.
func (o *serveOptions) serveInherited(ctx context.Context, env Env) error {
	if len(o.Shop.Faults) > 0 || o.supervise || o.Instances > 1 || o.TLS || o.Store != fixtures.StoreMemory {
		return usagef("retrysafe serve --inherited", "--inherited goes with --addr and --work only")
	}
	return fixtures.ServeInherited(ctx, o.Addr, o.Shop.Work, func(url string) { printLines(env, []string{url}) })
}

// superviseChild runs this program again, as the shop alone, and stays its parent.
func (o *serveOptions) superviseChild(ctx context.Context, env Env) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, to run the shop with it: %w", err)
	}
	return fixtures.Supervise(ctx, fixtures.SuperviseOptions{
		Command: func(more ...string) *exec.Cmd {
			c := exec.Command(program, append(o.childArgs(), more...)...)
			c.Stderr = env.Stderr
			return c
		},
		Instances: o.Instances,
		Ready:     func(urls []string, control string) { printLines(env, append(urls, "control "+control)) },
	})
}

// childArgs are the arguments that make the same shop in a child.
func (o *serveOptions) childArgs() []string {
	args := []string{
		"serve", "--until-stdin-ends", "--addr", o.Addr, "--store", o.Store, "--instances", fmt.Sprint(o.Instances),
		"--work", o.Shop.Work.String(), "--window", o.Shop.Window.String(), "--window-kind", o.Shop.WindowKind, "--ttl", o.Shop.TTL.String(),
		"--provider", o.Shop.Provider, "--smtp", o.Shop.SMTP,
	}
	if o.Shared {
		args = append(args, "--shared")
	}
	for _, name := range o.Shop.Faults {
		args = append(args, "--fault", name)
	}
	return args
}

func printLines(env Env, lines []string) {
	fmt.Fprintln(env.Stdout, strings.Join(lines, "\n"))
}

func variantNames() []string {
	var names []string
	for _, v := range fixtures.Variants() {
		names = append(names, v.Name)
	}
	return names
}

func completeFaults(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, v := range fixtures.Variants() {
		out = append(out, v.Name+"\t"+v.Kind)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// needsOf says what else a variant needs than the plan that all others use.
func needsOf(v fixtures.Variant) string {
	needs := ""
	if len(v.Stores) > 0 {
		needs = "; needs --store " + strings.Join(v.Stores, " or ")
	}
	if len(v.Flags) > 0 {
		needs += "; needs " + strings.Join(v.Flags, " ")
	}
	if v.Plan != fixtures.ShopPlan {
		needs += "; plan " + v.Plan
	}
	return needs
}

func listVariants(env Env, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(env.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(fixtures.Variants())
	}
	heads, members := byFamily(fixtures.Variants())
	for i, head := range heads {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		fmt.Fprintln(env.Stdout, head)
		for _, v := range members[head] {
			rules := strings.Join(v.Rules, ", ")
			if rules == "" {
				rules = "clean"
			}
			fmt.Fprintf(env.Stdout, "  %-32s %s%s\n", v.Name, rules, needsOf(v))
		}
	}
	return nil
}

// byFamily groups variants by kind and family: the headings in the order in which they first come, and what stands below each.
func byFamily(all []fixtures.Variant) (heads []string, members map[string][]fixtures.Variant) {
	members = map[string][]fixtures.Variant{}
	for _, v := range all {
		head := v.Kind + ": " + v.Family
		if members[head] == nil {
			heads = append(heads, head)
		}
		members[head] = append(members[head], v)
	}
	return heads, members
}
