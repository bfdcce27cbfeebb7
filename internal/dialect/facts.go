package dialect

import "retrysafe/internal/trace"

// Document puts down in f what the convention says about replays and scopes. What a plan can state itself is left as it
// is: Key, Required, Statuses, StoresClientErrors and StoresServerErrors.
func (d Dialect) Document(f *trace.Facts) {
	f.Lenient = d.Lenient
	f.Mismatch = d.Mismatch
	f.ReplayStatuses = d.Replay.Statuses
	f.AnyReplayStatus = len(d.Replay.Statuses) == 0 && d.Replay.Status != SameStatus
	if f.FreshKey == "returns-existing" {
		f.AnyReplayStatus = true // what exists is answered with 200, what was made with 201
	}
	f.Conflicts = d.Replay.Body == Conflict
	f.Fingerprint = d.Fingerprint
	f.ErrorsAt = d.Errors.At
	switch d.Scope.Endpoint {
	case "":
		f.EndpointScope = ""
	case Checked:
		f.EndpointScope = "checked"
	case Shared:
		f.EndpointScope = "none"
	default:
		f.EndpointScope = "independent"
	}
}
