package fire

import (
	"sync"
	"time"

	"retrysafe/internal/trace"
)

// answerTimes keeps how long the answers of every host take on average, in calls of Send: a round trip and the time of
// the server. The set-up of a connection does not tell that: a proxy near by answers it. The zero value is ready.
type answerTimes struct {
	mu    sync.Mutex
	hosts map[string]answerTime // by address
}

type answerTime struct {
	sum time.Duration
	n   int
}

// saw notes how long the answer took after the last byte was sent.
func (a *answerTimes) saw(address string, x *trace.Exchange) {
	took := (x.FirstByte - x.Sent).Duration()
	if x.Sent == 0 || took <= 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hosts == nil {
		a.hosts = map[string]answerTime{}
	}
	t := a.hosts[address]
	a.hosts[address] = answerTime{t.sum + took, t.n + 1}
}

// of gives the average; false when there was no answer yet.
func (a *answerTimes) of(address string) (time.Duration, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.hosts[address]
	if t.n == 0 {
		return 0, false
	}
	return t.sum / time.Duration(t.n), true
}
