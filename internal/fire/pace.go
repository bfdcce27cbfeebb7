package fire

import (
	"context"
	"net/url"
	"sync"

	"golang.org/x/time/rate"
)

// pace keeps the requests to each host to a rate. The nil pace keeps nothing back.
type pace struct {
	each rate.Limit
	mu   sync.Mutex
	host map[string]*rate.Limiter
}

func newPace(perSecond float64) *pace {
	if perSecond <= 0 {
		return nil
	}
	return &pace{each: rate.Limit(perSecond), host: map[string]*rate.Limiter{}}
}

func (p *pace) of(host string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host[host] == nil {
		// One at a time: what is to be sent together is waited for in full, so that the host has a rest before it.
		p.host[host] = rate.NewLimiter(p.each, 1)
	}
	return p.host[host]
}

// Pace waits until n requests may be sent to the host of a URL, as Options.Rate says, or until ctx ends. Those requests are then
// sent with Shot.Paced. Whoever must send at a moment calls it before; Send and Volley do it for shots that are not paced.
func (c *Client) Pace(ctx context.Context, to string, n int) {
	u, err := url.Parse(to)
	if c.pace == nil || err != nil {
		return // a shot that cannot be sent waits for nothing
	}
	limiter := c.pace.of(u.Host)
	for range n {
		if limiter.Wait(ctx) != nil {
			<-ctx.Done() // it fails at once where the deadline would come first, and what is sent then must not go out
			return
		}
	}
}

// paceAll waits until all shots that are not paced may be sent.
func (c *Client) paceAll(ctx context.Context, shots []Shot) {
	for i := range shots {
		if !shots[i].Paced {
			c.Pace(ctx, shots[i].URL, 1)
		}
	}
}
