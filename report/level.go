package report

import (
	"regexp"
	"slices"
	"strings"
)

// level is where in a plan a line belongs.
type level string

const (
	levelUnknown  level = ""
	levelFlag     level = "flag"
	levelPlan     level = "plan"
	levelEndpoint level = "endpoint"
)

var (
	firstField = regexp.MustCompile(`^([a-z_]+):`)
	// definition is a field whose entries are mappings, as those of `counters` and `states` are at the top level.
	definition = regexp.MustCompile(`^[a-z_]+: \{[^{}:]+: \{`)
	// number is a field whose entries are numbers, as the counters of an endpoint are.
	number = regexp.MustCompile(`^[a-z_]+: \{[^{}:]+: [0-9]+\}`)
)

// levelOf is where a line that would enable something belongs. It is unknown where the fields of a plan are, or where a field
// is of both levels and what follows it is no YAML.
func (p *printer) levelOf(text string) level {
	if strings.HasPrefix(text, "--") { // no line of YAML begins like that
		return levelFlag
	}
	found := firstField.FindStringSubmatch(text)
	if found == nil {
		return levelUnknown
	}
	top, below := slices.Contains(p.fields.Plan, found[1]), slices.Contains(p.fields.Endpoint, found[1])
	switch {
	case top && !below, top && definition.MatchString(text):
		return levelPlan
	case below && !top, below && number.MatchString(text):
		return levelEndpoint
	}
	return levelUnknown
}

// whereTo says where the lines of a gap belong.
func (p *printer) whereTo(g *gap) string {
	plan := "in " + p.planWords
	switch at := p.levelOf(g.enable); {
	case at == levelPlan && definition.MatchString(g.enable) && slices.Contains(p.fields.Endpoint, firstField.FindStringSubmatch(g.enable)[1]):
		field := firstField.FindStringSubmatch(g.enable)[1]
		return plan + ", at the top level, and `" + field + ": [NAME]` in the endpoint"
	case at == levelPlan && definition.MatchString(g.enable):
		return plan + ", at the top level, into its `" + firstField.FindStringSubmatch(g.enable)[1] + "` where it has them"
	case at == levelPlan:
		return plan + ", at the top level"
	case at == levelEndpoint && len(g.cases.endpoints) == 1:
		return plan + ", in this endpoint"
	case at == levelEndpoint:
		return plan + ", in each of these endpoints"
	}
	return plan
}

// copyable writes lines of plan; one that is wider than the screen goes on with more indentation, which YAML takes for one line.
func (p *printer) copyable(indent int, text string) {
	for line := range strings.SplitSeq(clean(text), "\n") {
		own := len(line) - len(strings.TrimLeft(line, " "))
		lines := wrapBehind(strings.TrimLeft(line, " "), p.width-indent-own, p.width-indent-own-2)
		for i, part := range lines {
			more := 0
			if i > 0 {
				more = 2
			}
			p.raw(indent+own+more, paint(p.label, part))
		}
	}
}
