package engine

import (
	"testing"

	"retrysafe/scenarios"
)

func TestEffort(t *testing.T) {
	race := &scenarios.Scenario{Adaptive: true, Steps: []scenarios.Step{
		{Send: &scenarios.Send{Key: "A", Together: 5}}, {Send: &scenarios.Send{Key: "A"}}}}
	plain := &scenarios.Scenario{Rounds: 2, Steps: race.Steps}
	waits := &scenarios.Scenario{Rounds: 1, Steps: []scenarios.Step{{Wait: &scenarios.Wait{Expiry: 0.7, Of: "A"}}}}
	for _, c := range []struct {
		effort string
		rounds int
		last   int
		waits  bool
		reason string
	}{
		{"smoke", 4, 5, false, "few rounds, no waiting"},
		{"standard", 16, 20, true, "then more copies"},
		{"deep", 45, 50, true, "then many"},
	} {
		e, ok := FindEffort(c.effort)
		if !ok {
			t.Fatal(c.effort)
		}
		if n := e.rounds(race); n != c.rounds {
			t.Errorf("%s: %d rounds, want %d: %s", c.effort, n, c.rounds, c.reason)
		}
		if n := e.rounds(plain); n != 2 {
			t.Errorf("%s: a script with a number of rounds runs %d times", c.effort, n)
		}
		if n := e.script(race, c.rounds).Steps[0].Send.Together; n != c.last {
			t.Errorf("%s: %d copies in the last round, want %d: %s", c.effort, n, c.last, c.reason)
		}
		if e.script(race, 1) != race || e.script(plain, c.rounds) != plain {
			t.Errorf("%s: a script that does not change is not copied", c.effort)
		}
		if (e.leavesOut(waits) == nil) != c.waits || e.leavesOut(race) != nil {
			t.Errorf("%s: %s", c.effort, c.reason)
		}
	}
	if race.Steps[0].Send.Together != 5 {
		t.Error("the script itself was changed")
	}
	if _, ok := FindEffort("heroic"); ok {
		t.Error("there is no such effort")
	}
}
