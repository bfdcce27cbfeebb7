package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// MergeReport says what Merge made of a plan.
type MergeReport struct {
	// Added are the endpoints that are new, by their names in the merged plan.
	Added []string
	// Kept is how many endpoints of the source the plan had already; they stay as they are.
	Kept int
	// Out are endpoints of the source that the plan has in comments, such as "POST /orders"; they stay out.
	Out []string
	// Gone are endpoints of the plan that the source does not have; they stay as they are.
	Gone []Stated
	// Counters, States and Callers are those that were added for new endpoints, by their names in the merged plan.
	Counters, States, Callers []string
	// Target is the base URL of the source where endpoints were added to a plan that has another one; empty otherwise.
	Target string
}

// Merge adds to a plan what a draft has and the plan has not: endpoints, known again by method and path whatever they are called, and the
// counters, states and callers that these need. Every byte of the plan stays; what is added stands in blocks between. A plan without anything
// but comments gets the draft as Write has it below them. What is no plan is refused with strict.Errors or an error that says what to do,
// and so is a layout that nothing can be added to. Included are the files that the plan includes: what they have is known, and nothing is
// added to them.
func Merge(existing []byte, file string, d Draft, included ...File) (merged []byte, report MergeReport, err error) {
	if commentsOnly(string(existing)) {
		return begin(existing, d)
	}
	o, err := readOutline(file, existing, included)
	if err != nil {
		return nil, MergeReport{}, err
	}
	page, err := newPage(existing, file, o)
	if err != nil {
		return nil, MergeReport{}, err
	}
	d = d.behind(o.target())
	known := o.endpoints()
	out := commentedOut(existing)
	for _, f := range included {
		out = append(out, commentedOut(f.Text)...)
	}
	missing := report.match(known, out, &d, o.target())
	if len(missing) == 0 {
		return existing, report, nil
	}
	if to, from := baseOf(o.target()), baseOf(d.Target.Value); to != nil && from != nil && !strings.EqualFold(to.Host, from.Host) {
		report.Target = d.Target.Value
	}
	m := merger{page: page, outline: o, report: &report}
	merged, err = m.add(&d, missing)
	if err != nil {
		return nil, MergeReport{}, err
	}
	return merged, report, nil
}

// commentsOnly is true for a file without a value.
func commentsOnly(text string) bool {
	for l := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if !blank(l) && !strings.HasPrefix(l, "#") && strings.TrimSpace(l) != "---" {
			return false
		}
	}
	return true
}

// begin is the draft below a file that holds comments at most.
func begin(existing []byte, d Draft) ([]byte, MergeReport, error) {
	var out strings.Builder
	out.Write(existing)
	if n := len(existing); n > 0 && existing[n-1] != '\n' && strings.TrimPrefix(string(existing), "\ufeff") != "" {
		out.WriteString("\n")
	}
	if err := Write(&out, d); err != nil {
		return nil, MergeReport{}, err
	}
	if err := strict.Parse("plan", []byte(out.String()), nil).Err(); err != nil {
		return nil, MergeReport{}, fmt.Errorf("cannot write below what is there: %w", err)
	}
	var report MergeReport
	for _, e := range d.Endpoints {
		report.Added = append(report.Added, oneLine(e.Name))
	}
	return []byte(out.String()), report, nil
}

// match parts the draft's endpoints into those that the plan has and those that are missing, which it returns.
func (r *MergeReport) match(known []Stated, out []Operation, d *Draft, target string) (missing []Endpoint) {
	plan := make([]Operation, len(known))
	for i, k := range known {
		plan[i] = behindTarget(k.Operation, target)
	}
	source := make([]Operation, len(d.Endpoints))
	for i := range d.Endpoints {
		source[i] = d.Endpoints[i].operation()
	}
	paired, used := make([]bool, len(source)), make([]bool, len(plan))
	for _, same := range []func(p, s int) bool{
		func(p, s int) bool { return plan[p] == source[s] && known[p].Name == label(d.Endpoints[s].Name) },
		func(p, s int) bool { return plan[p] == source[s] },
		func(p, s int) bool { return plan[p].resembles(source[s]) },
	} {
		for s := range source {
			for p := range plan {
				if !paired[s] && !used[p] && same(p, s) {
					paired[s], used[p] = true, true
				}
			}
		}
	}
	for s, e := range d.Endpoints {
		switch {
		case paired[s]:
			r.Kept++
		case slices.ContainsFunc(out, func(o Operation) bool { return o == source[s] || o.resembles(source[s]) }):
			r.Out = append(r.Out, e.Request)
		default:
			missing = append(missing, e)
		}
	}
	for p, k := range known {
		if !used[p] && k.Request != "" && !slices.ContainsFunc(source, plan[p].resembles) {
			r.Gone = append(r.Gone, k)
		}
	}
	return missing
}

// operation is what the endpoint does, by the path of the source.
func (e *Endpoint) operation() Operation {
	method, _, _ := strings.Cut(strings.TrimSpace(e.Request), " ")
	if e.Template == "" {
		return ParseOperation(e.Request)
	}
	return ParseOperation(method + " " + e.Template)
}

// commented is the request of an endpoint in a comment: a line of its own, or in an endpoint that is one line.
var commented = regexp.MustCompile(`(?m)^[ \t]*#[# \t]*(?:-[ \t]*\{[ \t]*name:.*?[ ,{])?request:[ \t]*["']?([A-Z]+ +(?:\{+[^{}\s]*\}+|[^\s"',{}])+)`)

// commentedOut are the operations of endpoints that stand in comments.
func commentedOut(plan []byte) []Operation {
	var found []Operation
	for _, m := range commented.FindAllSubmatch(plan, -1) {
		found = append(found, ParseOperation(string(m[1])))
	}
	return found
}
