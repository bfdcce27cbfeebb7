package sink

import (
	"testing"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// TestClosedAtOnce: a set that is closed before it has begun to serve ends.
func TestClosedAtOnce(t *testing.T) {
	for range 200 {
		s, err := Listen([]*plan.Sink{{Name: "mails", SMTP: "127.0.0.1:0"}, {Name: "calls", HTTP: "127.0.0.1:0"}}, func() trace.Nanos { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}
