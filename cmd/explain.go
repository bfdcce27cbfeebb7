package cmd

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"retrysafe/report"
	"retrysafe/scenarios"
)

func newExplainCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE|DIAGNOSIS|CODE]",
		Short: "Say what a rule, a diagnosis or a reason code means and what to do; list all without an argument",
		Example: `  retrysafe explain duplicate-creation
  retrysafe explain checked-before-claimed
  retrysafe explain no-overlap`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeExplanations,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			k, err := loadKnowledge()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return k.list(env.Stdout, opts)
			}
			return k.explain(env.Stdout, args[0], opts)
		}),
	}
}

// knowledge is all that can be explained.
type knowledge struct {
	rules     []scenarios.Rule
	diagnoses []scenarios.Diagnosis
	reasons   []scenarios.Reason
	scenarios []*scenarios.Scenario
}

func loadKnowledge() (knowledge, error) {
	var k knowledge
	var err error
	if k.rules, err = scenarios.Rules(); err != nil {
		return k, err
	}
	if k.diagnoses, err = scenarios.Diagnoses(); err != nil {
		return k, err
	}
	if k.reasons, err = scenarios.Reasons(); err != nil {
		return k, err
	}
	k.scenarios, err = scenarios.Builtin()
	return k, err
}

// topic is one thing that can be explained.
type topic struct {
	id, kind, title string
	show            func(io.Writer, report.Options) error
}

// topics are all of them; no two have one id.
func (k *knowledge) topics() []topic {
	var all []topic
	for _, r := range k.rules {
		all = append(all, topic{r.ID, "rule", r.Title, func(w io.Writer, o report.Options) error { return report.Explain(w, r, o) }})
	}
	for _, d := range k.diagnoses {
		all = append(all, topic{d.ID, "diagnosis", d.Title, func(w io.Writer, o report.Options) error { return report.ExplainDiagnosis(w, d, o) }})
	}
	for _, r := range k.reasons {
		all = append(all, topic{string(r.Code), "reason code", r.Title, func(w io.Writer, o report.Options) error { return report.ExplainReason(w, r, o) }})
	}
	return all
}

func (k *knowledge) explain(w io.Writer, name string, opts report.Options) error {
	if slices.ContainsFunc(k.scenarios, func(s *scenarios.Scenario) bool { return s.ID == name }) {
		return usagef("retrysafe scenarios "+name, "%q is a scenario, not a rule, diagnosis or reason code", name)
	}
	var ids []string
	for _, t := range k.topics() {
		if t.id == name {
			return t.show(w, opts)
		}
		ids = append(ids, t.id)
	}
	return unknown(listExplanations, "rule, diagnosis or reason code", name, ids)
}

// show writes the script of a scenario.
func (k *knowledge) show(w io.Writer, name string, opts report.Options) error {
	var ids []string
	for _, s := range k.scenarios {
		if s.ID == name {
			return report.ScenarioShow(w, s, opts)
		}
		ids = append(ids, s.ID)
	}
	for _, t := range k.topics() {
		if t.id == name {
			return usagef("retrysafe explain "+name, "%q is a %s, not a scenario", name, t.kind)
		}
	}
	return unknown(listScenarios, "scenario", name, ids)
}

// list writes all that can be explained.
func (k *knowledge) list(w io.Writer, opts report.Options) error {
	if err := report.RuleList(w, k.rules, opts); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := report.DiagnosisList(w, k.diagnoses, opts); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return report.ReasonList(w, k.reasons, opts)
}

func completeExplanations(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	k, err := loadKnowledge()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, t := range k.topics() {
		out = append(out, t.id+"\t"+t.title)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
