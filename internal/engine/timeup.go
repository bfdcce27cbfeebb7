package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"retrysafe/internal/trace"
)

// errTimeUp is why a run ended that took as long as it may.
var errTimeUp = errors.New("the time of the run is used up")

// FailFast is the cause with which a context is cancelled that ends a run at the first failing case.
type FailFast struct {
	// Endpoint and Scenario name the case.
	Endpoint, Scenario string
}

// Error says which case it was.
func (f FailFast) Error() string { return fmt.Sprintf("%s failed on %s", f.Scenario, f.Endpoint) }

// within bounds ctx by the time that the run may take.
func (r *run) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.Timeout-r.Before.Time, errTimeUp)
}

// timeUp reports whether ctx ended because the run took as long as it may.
func timeUp(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errTimeUp) }

// failedFast is why a run ended at the first failing case; false when it did not.
func failedFast(ctx context.Context) (why FailFast, did bool) {
	did = errors.As(context.Cause(ctx), &why)
	return why, did
}

// ended says why the run ended before something was done; nil as long as it goes on. When is such as "before the case was done".
func (r *run) ended(ctx context.Context, when string) *trace.Reason {
	switch {
	case ctx.Err() == nil:
		return nil
	case timeUp(ctx):
		return r.outOfTime(when)
	}
	if why, did := failedFast(ctx); did {
		return &trace.Reason{Code: trace.FailFast, Detail: fmt.Sprintf("the run ended at its first failure %s: %s", when, why)}
	}
	return &trace.Reason{Code: trace.Interrupted, Detail: "the run was interrupted " + when}
}

func (r *run) outOfTime(when string) *trace.Reason {
	return &trace.Reason{Code: trace.OutOfBudget, Detail: fmt.Sprintf("the time of the run, %s, was used up %s", r.Timeout, when),
		Enable: fmt.Sprintf("--timeout %s", 2*r.Timeout)}
}

// lingering ends some time after ctx does: what was done must still be undone.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if pause(longer, d) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}
