package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The rules that a convention can document away, beside those of other files.
const (
	ruleEquivalent    = "equivalent-body-refused"
	ruleEndpointShare = "key-shared-across-endpoints"
)

// What Facts can say about an endpoint, beside the empty text for what is not documented.
const (
	mismatchReplayed = "replayed"
	fingerprintBytes = "bytes"
	scopeIndependent = "independent"
	scopeChecked     = "checked"
	scopeNone        = "none"
)

// asserts reports whether a rule is asserted: false where the convention documents what the rule forbids.
func (in *Input) asserts(rule string) bool {
	f := in.Facts
	switch rule {
	case ruleReplayed:
		return f.Mismatch != mismatchReplayed
	case ruleConflict:
		return !f.Conflicts
	case ruleEquivalent:
		return f.Fingerprint != fingerprintBytes
	case ruleEndpointShare:
		return f.EndpointScope != scopeNone
	}
	return true
}

// waived reports whether an expectation says nothing here, because the convention documents what its rule forbids.
// Effects are always judged.
func (in *Input) waived(e *scenarios.Expectation) bool {
	return (e.Hidden != nil || e.OneOf != nil) && !in.asserts(e.Rule)
}

// methodAlone reports whether an endpoint has neither key nor counter, nor names anything it creates: then nothing
// about effects can be asked of its control, and success is enough.
func (in *Input) methodAlone() bool {
	return in.Facts.Key.In == "" && len(in.Facts.Counters) == 0 && in.Control != nil &&
		!slices.ContainsFunc(in.Control.Learned.CreationFields, isIdentity)
}

// rightStatus reports whether a replay may have another status than the first answer.
func (in *Input) rightStatus(first, replay int) bool {
	return first == replay || in.Facts.AnyReplayStatus || slices.Contains(in.Facts.ReplayStatuses, replay)
}

// expectedStatus says in words which statuses a replay may have.
func (in *Input) expectedStatus(first int) string {
	text := fmt.Sprintf("status %d", first)
	if len(in.Facts.ReplayStatuses) > 0 {
		text += fmt.Sprintf(", or one of the documented %v", in.Facts.ReplayStatuses)
	}
	return text
}

// conflictRight reports whether the convention documents that status for the retry of a finished operation.
func (in *Input) conflictRight(status int) bool {
	return len(in.Facts.ReplayStatuses) == 0 || slices.Contains(in.Facts.ReplayStatuses, status)
}

// shareKey reports whether an exchange went to the other endpoint under a key that this endpoint had been sent before.
func (v *view) shareKey(i int) bool {
	x := v.x(i)
	if !x.OtherEndpoint || x.Key == "" {
		return false
	}
	return slices.ContainsFunc(v.round.Exchanges, func(o trace.Exchange) bool {
		return !o.OtherEndpoint && o.Key == x.Key && o.Started != 0 && o.Started < x.Done
	})
}
