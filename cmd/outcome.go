package cmd

import (
	"cmp"
	"slices"

	"retrysafe/internal/engine"
	"retrysafe/internal/judge"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

// outcome is what is kept of a run for the reports for people. Of a large plan that is less than what was recorded, which
// goes into the results document as the endpoints end.
type outcome struct {
	jobs      []*job
	endpoints []trace.Endpoint
	requests  int
	// shown are the indices of endpoints of a large plan whose evidence is kept, in the order of the report.
	shown []int
}

func newOutcome(jobs ...*job) *outcome {
	n := 0
	for _, j := range jobs {
		n += len(j.endpoints)
	}
	return &outcome{jobs: jobs, endpoints: make([]trace.Endpoint, n)}
}

// jobOf is the job of the i-th endpoint of all.
func (o *outcome) jobOf(i int) *job {
	for _, j := range o.jobs {
		if i < len(j.endpoints) {
			return j
		}
		i -= len(j.endpoints)
	}
	return nil
}

// add judges an endpoint that has ended, the i-th of all, and keeps what the reports need.
func (o *outcome) add(i int, ended engine.Ended) {
	ep, j := ended.Endpoint, o.jobOf(i)
	for k := range ep.Cases {
		j.judge(ep, &ep.Cases[k])
	}
	ep.Verdict = judge.EndpointVerdict(ep.Cases)
	ep.Diagnoses = judge.Diagnose(j.diagnoses, ep.Cases)
	o.requests += engine.Requests(ep)
	j.removed += ended.Removed
	if ended.CleanUp != nil {
		j.cleanUps = append(j.cleanUps, ended.CleanUp)
	}
	if j.onEndpoint != nil {
		j.onEndpoint(i, ep)
	}
	o.keep(i, ep)
}

// keep keeps an endpoint whole in a small plan, or for a report that shows all. Where other reports than the terminal's were asked for
// it keeps all evidence; else only for those that the report shows in full: the first of each kind, as far as there is room.
// Which those are does not depend on the order of the ends.
func (o *outcome) keep(i int, ep *trace.Endpoint) {
	whole := slices.ContainsFunc(o.jobs[0].outputs, func(out output) bool { return out.format.Whole() })
	switch {
	case whole || !report.Large(len(o.endpoints)):
		o.endpoints[i] = *ep
		return
	case len(o.jobs[0].outputs) > 0:
		o.endpoints[i] = ep.Brief(true)
		return
	}
	kind := report.KindOf(ep)
	alike := slices.IndexFunc(o.shown, func(k int) bool { return report.KindOf(&o.endpoints[k]) == kind })
	if kind == "" || alike >= 0 && o.shown[alike] < i {
		o.endpoints[i] = ep.Brief(false)
		return
	}
	if alike >= 0 {
		o.hide(alike)
	}
	o.endpoints[i] = ep.Brief(true)
	at, _ := slices.BinarySearchFunc(o.shown, i, func(a, b int) int {
		return cmp.Or(report.Urgency(o.endpoints[a].Verdict)-report.Urgency(o.endpoints[b].Verdict), a-b)
	})
	o.shown = slices.Insert(o.shown, at, i)
	if last := len(o.shown) - 1; last >= report.KindsShown {
		o.hide(last)
	}
}

// hide drops the evidence of an endpoint that is shown no more.
func (o *outcome) hide(at int) {
	i := o.shown[at]
	o.endpoints[i] = o.endpoints[i].Brief(false)
	o.shown = slices.Delete(o.shown, at, at+1)
}
