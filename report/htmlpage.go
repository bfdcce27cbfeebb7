package report

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// What the page's template reads. Everything the scripts add to it is in Texts and in the Data of the endpoints.
type (
	htmlPage struct {
		Style  template.CSS
		Script template.JS
		Policy string

		Title, Coverage, Meaning string
		Verdict                  htmlVerdict
		Facts                    []htmlFact
		Notes                    []string
		// Lines are what would enable most, Gaps everything that was not tested.
		Lines, Gaps []htmlGap
		Untested    string
		Endpoints   []htmlEndpoint
		// Grid has a row for each scenario: with a column for each endpoint, or of a large run for each verdict.
		Grid  htmlGrid
		Large bool
		// Verdicts and Rules are what the page can be filtered by.
		Verdicts []htmlVerdict
		Rules    []string
		Texts    template.JS
		advice   *printer
	}
	// htmlVerdict is a verdict as a class of the style sheet, its sign, and its word.
	htmlVerdict struct{ Class, Sign, Word string }
	htmlFact    struct{ Name, Value string }
	htmlGap     struct {
		Verdict                                 htmlVerdict
		Count                                   string
		Where, Why, Enable, EnableWhere, Advice string
	}
	htmlEndpoint struct {
		ID, Name, Request, Place, Causes, Tally string
		Verdict                                 htmlVerdict
		Proved, Violated, Unjudged, Skipped     int
		// Cases and Plain are for readers without scripts.
		Cases []htmlCase
		Plain []htmlFinding
		Data  template.JS
	}
	htmlCase struct {
		ID, Scenario, Note string
		Verdict            htmlVerdict
	}
	htmlFinding struct {
		Verdict       htmlVerdict
		Heading, Text string
	}
	htmlGrid struct {
		Columns []htmlColumn
		Rows    []htmlRow
	}
	htmlColumn struct{ Name, ID string }
	htmlRow    struct {
		Scenario, Title string
		Cells           []htmlCell
	}
	// htmlCell is a verdict with a link to its case, or a number; neither where there is no case.
	htmlCell struct {
		Verdict *htmlVerdict
		ID      string
		Number  int
	}
)

func newHTMLPage(run *trace.Run, o Options) (*htmlPage, error) {
	c := coverageOf(run)
	word, _ := headWord(run.Summary.Verdict, &c, palette{})
	meaningText, _ := meaning(run, &c, palette{})
	page := &htmlPage{
		Title: "retrysafe: " + word, Coverage: c.counts(), Large: Large(len(run.Endpoints)), Facts: factsOf(run),
		Verdict: verdictMark(run.Summary.Verdict), Meaning: fmt.Sprintf("Exit code %d: %s.", run.Summary.ExitCode, meaningText),
	}
	if page.Verdict.Word = word; c.incomplete() && page.Verdict.Class == string(trace.Pass) || c.proved+c.violated == 0 {
		page.Verdict.Class, page.Verdict.Sign = string(trace.Inconclusive), "?"
	}
	page.advice = newPrinter(o).about(run)
	page.gaps(run, c)
	ordered := worstFirst(run)
	e, err := collectEvidence(run, ordered, o, mostEvidence)
	if err != nil {
		return nil, err
	}
	page.notes(run, c, e.note)
	page.Texts = template.JS(e.texts)
	ids := htmlIDs(ordered)
	for i, ep := range ordered {
		one := page.endpoint(run, ep, ids[ep], o.Rules)
		one.Data = template.JS(e.endpoints[i])
		page.Endpoints = append(page.Endpoints, one)
	}
	page.filters(run)
	if page.Large {
		page.Grid = countsOf(run)
	} else {
		page.Grid = gridOf(run, ids)
	}
	return page, nil
}

func verdictMark(v trace.Verdict) htmlVerdict {
	class := string(v)
	if !slices.Contains(verdictsShown(), v) {
		class = string(trace.Skip)
	}
	return htmlVerdict{class, symbol(v), word(v)}
}

// verdictsShown are the verdicts, worst first.
func verdictsShown() []trace.Verdict {
	return []trace.Verdict{trace.Fail, trace.Error, trace.Inconclusive, trace.Warn, trace.Pass, trace.Skip}
}

// worstFirst are the endpoints by their verdicts, else in the order of the plan.
func worstFirst(run *trace.Run) []*trace.Endpoint {
	var out []*trace.Endpoint
	for i := range run.Endpoints {
		out = append(out, &run.Endpoints[i])
	}
	slices.SortStableFunc(out, func(a, b *trace.Endpoint) int { return Urgency(a.Verdict) - Urgency(b.Verdict) })
	return out
}

// factsOf are what an auditor asks of a run: what was tested, by whom, when and with what.
func factsOf(run *trace.Run) []htmlFact {
	info := &run.Info
	by := orElse(info.Labels["by"], "not stated (run with --label by=NAME)")
	facts := []htmlFact{
		{"Target", info.Target}, {"Plan", orElse(info.Plan.Path, "no plan file")}, {"Plan digest", info.Plan.Digest}, {"Dialect", dialectName(info.Dialect)},
		{"Run by", by}, {"Started", info.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"Sent", fmt.Sprintf("%s in %s", plural(run.Summary.Requests, "request"), span(time.Duration(info.ElapsedMS)*time.Millisecond))},
		{"Effort", orElse(info.Effort, "not stated") + ", fails on " + string(failOn(run)) + " findings" + strings.TrimSuffix(orOwn(run), ",")},
		{"Tool", info.Tool.Name + " " + info.Tool.Version}, {"Run", info.ID}, {"Seed", info.Seed},
	}
	for _, name := range slices.Sorted(maps.Keys(info.Labels)) {
		if name != "by" {
			facts = append(facts, htmlFact{"Label " + name, info.Labels[name]})
		}
	}
	if info.Baseline != nil {
		facts = append(facts, htmlFact{"Baseline", baselineNote(info.Baseline)})
	}
	if len(info.Merged) > 0 {
		facts = append(facts, htmlFact{"Merged from", strings.Join(info.Merged, ", ")})
	}
	for i := range facts {
		facts[i].Value = oneLine(facts[i].Value)
	}
	return facts
}

func (page *htmlPage) notes(run *trace.Run, c coverage, evidence string) {
	for _, note := range notes(&run.Info) {
		page.Notes = append(page.Notes, sentence(oneLine(note)))
	}
	for _, e := range run.Info.Baseline.In(trace.BaselineExpired) {
		page.Notes = append(page.Notes, "Accepted until "+oneLine(e.Expires)+", and still there: "+entry(e)+".")
	}
	for _, e := range run.Info.Baseline.In(trace.BaselineFixed) {
		page.Notes = append(page.Notes, "In the baseline, and fixed: "+entry(e)+".")
	}
	if c.uncounted > 0 {
		page.Notes = append(page.Notes, sentence(uncountedNote(c)))
	}
	if page.Large {
		page.Notes = append(page.Notes, "Of a plan of more than ten endpoints, requests are shown for what broke a rule only. The JSON document has all.")
	}
	if evidence != "" {
		page.Notes = append(page.Notes, evidence+" The JSON document has all.")
	}
}

// sentence begins a text with a capital and ends it with a period.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// linesShown is how many pieces of plan are shown at the top.
const linesShown = 3

// gaps fills in what was not tested, and what would enable most.
func (page *htmlPage) gaps(run *trace.Run, c coverage) {
	page.Untested = fmt.Sprintf("%d of %s", c.untested+c.failed, plural(c.total(), "behaviour"))
	all := gapsOf(run)
	for i := range all[:min(len(all), gapsShown)] {
		page.Gaps = append(page.Gaps, page.gap(&all[i], len(run.Endpoints)))
	}
	if left := len(all) - gapsShown; left > 0 {
		page.Notes = append(page.Notes, fmt.Sprintf("Of what was not tested, %s are not told here. The JSON document has all.", plural(left, "more reason")))
	}
	all = slices.DeleteFunc(all, func(g gap) bool { return g.enable == "" })
	slices.SortStableFunc(all, func(a, b gap) int { return b.cases.n - a.cases.n })
	for i := range all[:min(len(all), linesShown)] {
		page.Lines = append(page.Lines, page.gap(&all[i], len(run.Endpoints)))
	}
}

func (page *htmlPage) gap(g *gap, endpoints int) htmlGap {
	why := strings.TrimPrefix(string(g.reason)+": "+limit(clean(g.detail), longText), ": ")
	out := htmlGap{Verdict: verdictMark(g.verdict), Count: plural(g.cases.n, "behaviour"), Where: clean(g.cases.among(endpoints)), Why: strings.TrimSuffix(why, ": "), Enable: clean(g.enable)}
	if g.enable == "" {
		out.Advice = sentence(page.advice.hint(g.reason, g.detail))
	} else {
		out.EnableWhere = page.advice.heads(g)
	}
	return out
}

// heads says over what enables a gap what to do with it.
func (p *printer) heads(g *gap) string {
	if p.levelOf(g.enable) == levelFlag {
		return "Run with this flag"
	}
	return "I" + strings.TrimPrefix(p.whereTo(g), "i") // in the plan, where
}

func (page *htmlPage) endpoint(run *trace.Run, ep *trace.Endpoint, id string, rules []scenarios.Rule) htmlEndpoint {
	out := htmlEndpoint{ID: id, Name: oneLine(ep.Name), Request: oneLine(ep.Request), Verdict: verdictMark(ep.Verdict)}
	out.Place = strings.Trim(place(run, ep)+"; "+owned(ep), "; ")
	n := map[trace.Verdict]int{}
	for _, k := range tested(ep) {
		n[k.Verdict]++
		if !page.Large {
			out.Cases = append(out.Cases, htmlCase{id + "/" + slug(k.Scenario), oneLine(k.Scenario), caseNote(k), verdictMark(k.Verdict)})
		}
	}
	out.Proved, out.Violated, out.Unjudged, out.Skipped = n[trace.Pass]+n[trace.Warn], n[trace.Fail], n[trace.Inconclusive]+n[trace.Error], n[trace.Skip]
	out.Tally = tally(n)
	var causes []string
	for i := range ep.Diagnoses {
		causes = append(causes, oneLine(ep.Diagnoses[i].Title))
	}
	out.Causes = strings.Join(causes, "; ")
	for _, found := range findingsOf(ep) {
		v := verdictMark(trace.Fail)
		if !fails(run, ep, found.f) {
			v = verdictMark(trace.Warn)
		}
		f := htmlFinding{v, fmt.Sprintf("%s %s in %s", found.f.Severity, found.f.Rule, found.c.Scenario), limit(oneLine(found.f.Message), 200)}
		if !page.Large {
			f.Text = account(ep, found.c, found.f, rules)
		}
		out.Plain = append(out.Plain, f)
	}
	return out
}

// caseNote says of a case that was not judged why, for readers without scripts.
func caseNote(k *trace.Case) string {
	switch k.Verdict {
	case trace.Pass, trace.Warn, trace.Fail:
		return oneLine(k.Title)
	}
	return limit(whyNot(k), longValue)
}

// filters are the verdicts and rules that occur.
func (page *htmlPage) filters(run *trace.Run) {
	verdicts, rules := map[trace.Verdict]bool{}, map[string]bool{}
	for i := range run.Endpoints {
		for _, k := range tested(&run.Endpoints[i]) {
			verdicts[k.Verdict] = true
			for _, f := range k.Findings {
				rules[f.Rule] = true
			}
		}
	}
	for _, v := range verdictsShown() {
		if verdicts[v] {
			page.Verdicts = append(page.Verdicts, verdictMark(v))
		}
	}
	page.Rules = slices.Sorted(maps.Keys(rules))
}

// htmlIDs gives each endpoint an id that is unique in the page and can be guessed from its name.
func htmlIDs(endpoints []*trace.Endpoint) map[*trace.Endpoint]string {
	used := map[string]bool{"": true, "untested": true, "endpoints": true, "verdicts": true, "evidence": true, "grid": true, "texts": true, "top": true, "filter": true, "status": true, "filter-text": true, "filter-rule": true}
	ids := map[*trace.Endpoint]string{}
	for _, ep := range endpoints {
		name := slug(ep.Name)
		id := name
		for n := 2; used[id]; n++ {
			id = strings.TrimPrefix(fmt.Sprintf("%s-%d", name, n), "-")
		}
		used[id], ids[ep] = true, id
	}
	return ids
}

// slug is a name as it stands in a link: letters and digits, all else a dash.
func slug(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(clean(name)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(parts, "-")
}

// gridOf shows every verdict: a row for each scenario, a column for each endpoint.
func gridOf(run *trace.Run, ids map[*trace.Endpoint]string) htmlGrid {
	var g htmlGrid
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		g.Columns = append(g.Columns, htmlColumn{oneLine(ep.Name), ids[ep]})
	}
	titles := titlesOf(run)
	for _, id := range scenariosShown(run) {
		row := htmlRow{Scenario: oneLine(id), Title: oneLine(titles[id])}
		for i := range run.Endpoints {
			ep := &run.Endpoints[i]
			cell := htmlCell{}
			if k := slices.IndexFunc(ep.Cases, func(c trace.Case) bool { return c.Scenario == id && !c.NotApplicable() }); k >= 0 {
				v := verdictMark(ep.Cases[k].Verdict)
				cell.Verdict, cell.ID = &v, ids[ep]+"/"+slug(id)
			}
			row.Cells = append(row.Cells, cell)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// countsOf shows how many endpoints ended how: a row for each scenario, a column for each verdict that occurs.
func countsOf(run *trace.Run) htmlGrid {
	var g htmlGrid
	n := map[string]map[trace.Verdict]int{}
	sum := map[trace.Verdict]int{}
	for i := range run.Endpoints {
		for _, k := range tested(&run.Endpoints[i]) {
			if n[k.Scenario] == nil {
				n[k.Scenario] = map[trace.Verdict]int{}
			}
			n[k.Scenario][k.Verdict]++
			sum[k.Verdict]++
		}
	}
	shown := slices.DeleteFunc(verdictsShown(), func(v trace.Verdict) bool { return sum[v] == 0 })
	for _, v := range shown {
		g.Columns = append(g.Columns, htmlColumn{Name: symbol(v) + " " + word(v)})
	}
	titles := titlesOf(run)
	for _, id := range scenariosShown(run) {
		row := htmlRow{Scenario: oneLine(id), Title: oneLine(titles[id])}
		for _, v := range shown {
			row.Cells = append(row.Cells, htmlCell{Number: n[id][v]})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func titlesOf(run *trace.Run) map[string]string {
	out := map[string]string{}
	for i := range run.Endpoints {
		for k := range run.Endpoints[i].Cases {
			out[run.Endpoints[i].Cases[k].Scenario] = run.Endpoints[i].Cases[k].Title
		}
	}
	return out
}

// scenariosShown are the scenarios that apply to an endpoint at least, in the order in which they come.
func scenariosShown(run *trace.Run) []string {
	var ids []string
	seen := map[string]bool{}
	for i := range run.Endpoints {
		for _, k := range tested(&run.Endpoints[i]) {
			if !seen[k.Scenario] {
				seen[k.Scenario], ids = true, append(ids, k.Scenario)
			}
		}
	}
	return ids
}
