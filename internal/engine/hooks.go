package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"retrysafe/internal/count"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// readyEvery is the pause between two looks at whether a system is ready again: short beside the second or so that most
// processes take to start.
const readyEvery = 50 * time.Millisecond

// runHook does what a hook says: its command, request or statement, the command behind it, and then waits until the system is ready.
func (r *run) runHook(ctx context.Context, h plan.Hook, v values) error {
	for _, command := range [][]plan.Template{h.Exec, h.Then} {
		if len(command) == 0 {
			continue
		}
		if _, err := count.Command(ctx, r.dirOf(h.Pos.File), r.Plan.Limits.Request, count.Render(command, v)); err != nil {
			return err
		}
	}
	if h.HTTP != nil {
		if err := r.ask(ctx, *h.HTTP, v); err != nil {
			return err
		}
	}
	if h.SQL != nil {
		if err := count.Statement(ctx, &r.databases, r.Plan.Limits.Request, h.SQL, v); err != nil {
			return err
		}
	}
	if h.Ready == nil {
		return nil
	}
	return r.ready(ctx, *h.Ready, v)
}

// ask sends a request of a hook, which must be answered with 2xx.
func (r *run) ask(ctx context.Context, req plan.RequestTemplate, v values) error {
	cred, err := r.credential(ctx, r.callerNamed(""), false)
	if err != nil {
		return err
	}
	shot, err := r.request(ctx, req, nil, cred, plan.Body{}, trace.KeyPlace{}, v)
	if err != nil {
		return err
	}
	x := r.Client.Send(ctx, shot)
	switch {
	case !x.Complete():
		return fmt.Errorf("%s: no answer: %s", req, x.Error)
	case x.Response.Status/100 != 2:
		return fmt.Errorf("%s: expected a 2xx answer, found %d %s", req, x.Response.Status, excerpt(x.Response.Body))
	}
	return nil
}

// ready repeats a request until it is answered with 2xx.
func (r *run) ready(ctx context.Context, req plan.RequestTemplate, v values) error {
	limit, cancel := context.WithTimeout(ctx, r.Plan.Limits.Ready)
	defer cancel()
	for {
		err := r.ask(limit, req, v)
		if err == nil {
			return nil
		}
		if !pause(limit, readyEvery) {
			return errors.Join(fmt.Errorf("not ready within limits.ready (%s)", r.Plan.Limits.Ready), err)
		}
	}
}
