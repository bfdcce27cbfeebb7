package engine

import "sync"

// turn is held by the one case that may send. Waiters get it in the order in which they asked, those with a moment to keep
// before the others.
type turn struct {
	mu            sync.Mutex
	held          bool
	urgent, usual []chan struct{}
}

// take waits for the turn.
func (t *turn) take() { t.wait(&t.usual) }

// takeSoon waits for the turn ahead of all who have no moment to keep: the caller slept until one.
func (t *turn) takeSoon() { t.wait(&t.urgent) }

func (t *turn) wait(queue *[]chan struct{}) {
	t.mu.Lock()
	if !t.held {
		t.held = true
		t.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	*queue = append(*queue, mine)
	t.mu.Unlock()
	<-mine
}

// give hands the turn on.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&t.urgent, &t.usual} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	t.held = false
}
