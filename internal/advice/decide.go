package advice

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/engine"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// gap is what a plan does not say, with the scenarios that are skipped for it.
type gap struct {
	reason  trace.Reason
	enables []string
}

// gaps are what a run of the plan with some lines in it would skip scenarios for, in the order of the scenarios, each with the line that
// the run would name.
func (in Input) gaps(with []proposal) []gap {
	p, ep := in.Plan, in.Endpoint
	if !in.Lesson.Learned.Sound {
		return nil
	}
	var edits []Edit
	for _, w := range with {
		if w.edit.Endpoint == "" || strings.HasPrefix(w.edit.Text, "kind:") {
			edits = append(edits, w.edit)
		}
	}
	if files, err := Apply(in.Files, edits...); err == nil {
		if changed, err := in.Parse(files); err == nil {
			if i := slices.IndexFunc(changed.Endpoints, func(e plan.Endpoint) bool { return e.Name == ep.Name }); i >= 0 {
				p, ep = changed, &changed.Endpoints[i]
			}
		}
	}
	standard, _ := engine.FindEffort("standard")
	var out []gap
	for _, s := range in.Scenarios {
		why := engine.Unmet(p, ep, s, standard, true)
		if why == nil || why.Code == trace.NotApplicable || why.Code == trace.PlanSkip || why.Enable == "" || strings.HasPrefix(why.Enable, "--") {
			continue
		}
		if why.Enable = InPlan(p, why.Enable); why.Enable == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g gap) bool { return g.reason.Enable == why.Enable })
		if i < 0 {
			i, out = len(out), append(out, gap{reason: *why})
		}
		out[i].enables = append(out[i].enables, s.ID)
	}
	return out
}

// credited gives proposals the scenarios that a gap of the same field names, and takes those gaps away.
func credited(proposals []proposal, gaps []gap) ([]proposal, []gap) {
	for i := range proposals {
		field := proposals[i].field()
		gaps = slices.DeleteFunc(gaps, func(g gap) bool {
			own := strings.HasPrefix(g.reason.Enable, field+":")
			if own {
				proposals[i].enables = append(proposals[i].enables, g.enables...)
			}
			return own
		})
	}
	return proposals, gaps
}

// open is the line for what nothing shows, as a run names it, with examples where it has placeholders that would make the plan wrong.
func (in Input) open(g gap) []proposal {
	p := proposal{edit: Edit{Text: g.reason.Enable}, why: g.reason.Detail, enables: g.enables, rank: rankMore, guess: true}
	field, _, _ := strings.Cut(g.reason.Enable, ":")
	switch {
	case field == "counters":
		name := in.resource()
		p.edit.Text, p.with = fmt.Sprintf(`counters: {%s: {http: "GET /%s?reference={{marker}}", length: $}}`, name, name), fmt.Sprintf("counters: [%s]", name)
		if !in.Endpoint.Body.Uses("marker") {
			p.why += `; put "{{marker}}" into a field of the body by which they can be counted`
		}
	case field == "states":
		p.edit.Text, p.with = `states: {NAME: {http: GET /PATH, value: $.FIELD}}`, "states: [NAME]"
	case field == "hooks":
		p.rank = rankCostly
	case field == "replicas":
		p.edit.Text, p.rank = "replicas: [http://127.0.0.1:8081, http://127.0.0.1:8082]", rankCostly
	case field == "callers" && len(in.Plan.Callers) == 0 && strings.Contains(p.edit.Text, "login:"):
		return nil // a log-in of nobody
	case field == "callers":
		if line, err := locatedIn(in.Files, p.edit); err == nil && !strings.HasPrefix(line.Text, "callers:") { // each in lines of its own
			p.entry, _, _ = strings.Cut(line.Text, ":")
		}
		if _, readable := in.Plan.AnotherCaller(); readable != "" && !renews(in.Plan, p.edit.Text) {
			p.readable = "callers: {" + readable + "}"
		} else if readable != "" && p.entry == "" && len(in.Plan.Callers) == 1 {
			return nil // it would change the first one in the line that adds a second
		}
	case field == "other_endpoint":
		p.edit = Edit{in.Endpoint.Name, "other_endpoint: " + in.otherEndpoint()}
	case field == "limits":
		p.edit.Text = fmt.Sprintf("limits: {wait: %s}", atLeast(in.Endpoint.KeyLifetime*13/10))
		if in.Endpoint.KeyLifetime > longestWait {
			return nil
		}
	case slices.Contains(plan.EndpointFields(), field):
		p.edit.Endpoint = in.Endpoint.Name
	}
	return []proposal{p}
}

// longestWait is how long a lifetime may be that somebody would wait for.
const longestWait = 10 * time.Minute

// resource is what the endpoint's path ends with, without placeholders.
func (in Input) resource() string {
	parts := strings.Split(strings.Trim(in.Endpoint.Request.Path.String(), "/"), "/")
	for _, part := range slices.Backward(parts) {
		part, _, _ = strings.Cut(part, "?")
		if plainName.MatchString(part) {
			return part
		}
	}
	return "effects"
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// otherEndpoint is another endpoint of the plan that takes keys; empty when there is none, which no plan accepts.
func (in Input) otherEndpoint() string {
	for i := range in.Plan.Endpoints {
		if e := &in.Plan.Endpoints[i]; e.Name != in.Endpoint.Name && e.Key.In != "" && e.Kind == in.Endpoint.Kind {
			return e.Name
		}
	}
	return ""
}

// guesses are lines that may be right.
func (in Input) guesses() []proposal {
	var out []proposal
	guess := func(rank int, text, why string) *proposal {
		p := in.here(rank, text, why)
		p.guess = true
		out = append(out, p)
		return &out[len(out)-1]
	}
	l := in.Lesson
	for _, a := range in.Assumed {
		if a.Kind == RisesBy {
			guess(rankVital, a.Line, "one uncontested request raised the counters so: right only if it should").all = true
		}
	}
	if l.ErrorAt != "" {
		guess(rankVital, fmt.Sprintf("answers: {refused: {json: %s}}", l.ErrorAt), "the first answer has a success status, and something at "+l.ErrorAt)
	}
	if name := in.namedHeader(); name != "" {
		guess(rankVital, fmt.Sprintf("key: {header: %s}", name), "the refusal of the first request names this header").all = true
	}
	if !l.Learned.Sound {
		return out
	}
	if l.Work != nil && len(l.WorkDone) == 0 && in.Endpoint.Await == nil {
		guess(rankTruth, "await: {follow: Location, until: {$.FIELD: VALUE}}",
			fmt.Sprintf("the answer is 202 with a Location, and within %s nothing there said in known words that the work is done", workPatience))
	}
	if patch := in.invalidPatch(); patch != "" {
		guess(rankMore, "invalid_body: "+patch, "a value that the endpoint probably refuses")
	}
	if line := in.cleanupLine(); line != "" {
		guess(rankMore, line, "removes after a run what it made, if DELETE works at the Location of an answer; it was not tried")
	}
	return out
}

var keyHeader = regexp.MustCompile(`([A-Za-z]+-)*[Ii]dempotency(-[A-Za-z]+)+`)

// namedHeader is the header for keys that a refusal of the first request names, and the endpoint does not have; empty for none.
func (in Input) namedHeader() string {
	x := in.Lesson.First
	if in.Lesson.Learned.Sound || x == nil || x.Response == nil || x.Response.Status/100 != 4 {
		return ""
	}
	name := keyHeader.FindString(x.Response.Body.Text)
	if name == "" || in.Endpoint.Key.In == "header" && strings.EqualFold(in.Endpoint.Key.Name, name) {
		return ""
	}
	return name
}

// invalidPatch is a merge patch that makes a positive number of the body negative: the one that the other body changes. Empty where the plan
// has such a patch, or the body no such number.
func (in Input) invalidPatch() string {
	if in.Endpoint.HasInvalid || len(in.Endpoint.OtherPlaces) != 1 || in.Lesson.First == nil {
		return ""
	}
	members := strings.Split(in.Endpoint.OtherPlaces[0], ".")[1:]
	var doc any
	if json.Unmarshal([]byte(in.Lesson.First.Request.Body.Text), &doc) != nil {
		return ""
	}
	for _, m := range members {
		object, ok := doc.(map[string]any)
		if !ok || !plainName.MatchString(m) {
			return ""
		}
		doc = object[m]
	}
	if n, ok := doc.(float64); !ok || n <= 0 {
		return ""
	}
	return "{" + strings.Join(members, ": {") + ": -1" + strings.Repeat("}", len(members))
}

// cleanupLine removes what was made, where an answer names it in its Location and in its body. Empty where the plan says how, or nothing names it.
func (in Input) cleanupLine() string {
	l := in.Lesson
	if in.Endpoint.Cleanup != nil || l.LocationField == "" || in.Endpoint.Request.Method != "POST" {
		return ""
	}
	asked, err := url.Parse(l.First.Request.URL)
	if err != nil {
		return ""
	}
	to, err := asked.Parse(l.Location)
	if err != nil || to.RawQuery != "" {
		return ""
	}
	path, own := strings.CutPrefix(to.String(), in.Plan.Target)
	if !own || !strings.HasPrefix(path, "/") {
		return ""
	}
	return fmt.Sprintf(`cleanup: {request: "DELETE %s/{{id}}", capture: {id: %s}}`, path[:strings.LastIndex(path, "/")], l.LocationField)
}
