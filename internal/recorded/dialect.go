package recorded

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/dialect"
	"retrysafe/internal/judge"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// change is another dialect for a record.
type change struct {
	from, to dialect.Dialect
	// notes say what the requests of the record lack.
	notes []string
}

func newChange(from, to string) (*change, error) {
	old, err := dialectOf(from)
	if err != nil {
		return nil, fmt.Errorf("the dialect of the record: %w", err)
	}
	next, err := dialectOf(to)
	return &change{from: old, to: next}, err
}

// facts puts the new dialect's word in place of the old one's. What the plan states stays. A record that does not tell plan
// and dialect apart is read so that what the old dialect says too came from it.
func (c *change) facts(ep *trace.Endpoint) {
	f := &ep.Facts
	stated := func(name string, asOld bool) bool {
		if f.Stated == nil {
			return !asOld
		}
		return slices.Contains(f.Stated, name)
	}
	if f.Stated == nil {
		c.note("the record does not say what of its facts the plan states: what %s says too was taken for its word", c.from.Name)
	}
	c.sent(ep, stated)
	if !stated(trace.StatedRequired, f.Required == requires(c.from, f.Key)) {
		f.Required = requires(c.to, f.Key)
	}
	for _, s := range []struct {
		name      string
		value     *[]int
		from, now []int
	}{
		{trace.StatedMismatch, &f.Statuses.Mismatch, c.from.Statuses.Mismatch, c.to.Statuses.Mismatch},
		{trace.StatedMissingKey, &f.Statuses.MissingKey, c.from.Statuses.MissingKey, c.to.Statuses.MissingKey},
		{trace.StatedInProgress, &f.Statuses.InProgress, c.from.Statuses.InProgress, c.to.Statuses.InProgress},
	} {
		if !stated(s.name, slices.Equal(*s.value, s.from)) {
			*s.value = s.now
		}
	}
	if !stated(trace.StatedStores4xx, f.StoresClientErrors == c.from.Stores4xx) {
		f.StoresClientErrors = c.to.Stores4xx
	}
	if !stated(trace.StatedStores5xx, f.StoresServerErrors == c.from.Stores5xx) {
		f.StoresServerErrors = c.to.Stores5xx
	}
	c.to.Document(f)
}

func requires(d dialect.Dialect, key trace.KeyPlace) bool {
	return key.In != "" && d.MissingKey == dialect.Refused
}

// sent notes where requests under the new dialect would have looked otherwise.
func (c *change) sent(ep *trace.Endpoint, stated func(string, bool) bool) {
	key, want := ep.Facts.Key, c.to.Key
	if key.In == "" || ep.Kind == "webhook" {
		return
	}
	samePlace := key.In == want.In && strings.EqualFold(key.Name, want.Name)
	if want.In != "" && !samePlace && !stated(trace.StatedKey, c.from.Key.In != "") {
		c.note("the keys were sent in %s %s, and %s has them in %s %s: only a run shows what comes of that", key.In, key.Name, c.to.Name, want.In, want.Name)
	}
	if key.In == "header" && want.In == "header" && format(key) != format(want) && !stated(trace.StatedKeyFormat, true) {
		c.note("the keys were sent as %s, and %s writes them as %s: only a run shows what comes of that", format(key), c.to.Name, format(want))
	}
	for _, with := range c.to.With {
		if !slices.Contains(c.from.With, with) {
			c.note("%s has a header %s go with the key, which was not sent", c.to.Name, with.Header)
		}
	}
}

func format(k trace.KeyPlace) string {
	if k.Format == "sf-string" {
		return `sf-string ("...")`
	}
	return "bare text"
}

// note adds a sentence, once.
func (c *change) note(text string, args ...any) {
	if text = fmt.Sprintf(text, args...); !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// stop says of a case what the new dialect makes of it: it would not have been run, or the record does not hold what is
// needed to judge it.
func (c *change) stop(ep *trace.Endpoint, before trace.Facts, s *scenarios.Scenario, k *trace.Case) {
	was, is := unmet(c.from, before, s), unmet(c.to, ep.Facts, s)
	skipped := k.Stop != nil && k.Stop.Code == trace.Needs
	switch {
	case is != "" && (k.Stop == nil || skipped):
		k.Stop = &trace.Reason{Code: trace.Needs, Detail: fmt.Sprintf("dialect %s: %s", c.to.Name, is)}
	case skipped && was != "":
		k.Stop = c.unsent(was)
	case k.Stop != nil && k.Stop.Code == trace.NotApplicable && strings.HasPrefix(k.Stop.Detail, trace.CannotCarry) && c.to.Name != c.from.Name:
		k.Stop = c.unsent(k.Stop.Detail)
	case k.Stop == nil && c.cannotCarry(s, k) != nil:
		k.Stop = &trace.Reason{Code: trace.NotApplicable, Detail: trace.CannotCarry + c.cannotCarry(s, k).Error()}
	case k.Stop == nil && c.reread(ep, before, s, k):
		k.Stop = &trace.Reason{Code: trace.NoEvidence, Enable: "--dialect " + c.to.Name,
			Detail: fmt.Sprintf("the record does not show it: under dialect %s the run took other answers for \"still in progress\", and asked again for other ones", c.from.Name)}
	}
}

func (c *change) unsent(why string) *trace.Reason {
	return &trace.Reason{Code: trace.NoEvidence, Enable: "--dialect " + c.to.Name,
		Detail: fmt.Sprintf("the record does not show it: it was not run under dialect %s (%s)", c.from.Name, why)}
}

// cannotCarry says why the new dialect forbids the keys that a case sent to compare them; nil when it does not.
func (c *change) cannotCarry(s *scenarios.Scenario, k *trace.Case) error {
	if !slices.ContainsFunc(s.Expect, func(e scenarios.Expectation) bool { return e.Distinct != nil }) {
		return nil
	}
	for i := range k.Trace {
		for _, scope := range k.Trace[i].Scopes {
			letter, _, _ := strings.Cut(scope.Name, "@")
			form := s.Keys[letter]
			if scope.Key == "" || form.None || form.Lines > 1 || form.Text != nil || form.Quoted {
				continue
			}
			if err := c.to.CheckKey(scope.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// reread reports whether an answer for which the run asked again, or would have had to, reads otherwise now.
func (c *change) reread(ep *trace.Endpoint, before trace.Facts, s *scenarios.Scenario, k *trace.Case) bool {
	if ep.Control == nil || slices.Equal(before.Statuses.InProgress, ep.Facts.Statuses.InProgress) {
		return false
	}
	for n := range k.Trace {
		r := &k.Trace[n]
		for i := range r.Exchanges {
			step := r.Exchanges[i].Step
			if step < 0 || step >= len(s.Steps) || s.Steps[step].Send == nil || !s.Steps[step].Send.UntilFinal {
				continue
			}
			was := judge.Classify(before, ep.Control.Learned, r, i) == trace.ClassInProgress
			is := judge.Classify(ep.Facts, ep.Control.Learned, r, i) == trace.ClassInProgress
			if was != is {
				return true
			}
		}
	}
	return false
}

// unmet says which need of a scenario a dialect leaves unmet; empty when none of those that a dialect decides.
func unmet(d dialect.Dialect, f trace.Facts, s *scenarios.Scenario) string {
	lacks := map[string]string{}
	if !f.Required {
		lacks["required"] = "a key is not required"
	}
	if f.StoresClientErrors != "no" {
		lacks["stores_4xx_no"] = "nothing says that a 4xx answer is not kept under the key"
	}
	if f.StoresServerErrors != "no" {
		lacks["stores_5xx_no"] = "nothing says that a 5xx answer is not kept under the key"
	}
	if d.Scope.ByCredential() {
		lacks["account_scope"] = "keys belong to the credential, so a renewed one is another caller"
	}
	for _, either := range s.Needs {
		if len(either) == 1 && lacks[either[0]] != "" {
			return lacks[either[0]]
		}
	}
	return ""
}
