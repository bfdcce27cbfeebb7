//go:build !race

package draft

import "testing"

// Asking a parser about every name makes the plan of a large API slow. The race detector allocates by itself, so it leaves this out.
func TestBareTextsNeedNoParser(t *testing.T) {
	for _, where := range []context{inBlock, inFlow, asKey} {
		if n := testing.AllocsPerRun(100, func() { isPlain("reference_2", where) }); n > 0 {
			t.Errorf("context %d: got %v allocations, want none", where, n)
		}
	}
}
