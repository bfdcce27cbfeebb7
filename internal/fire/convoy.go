package fire

import (
	"context"
	"errors"
	"slices"
	"time"
)

// convoy is the part of a volley that goes over one session.
type convoy struct {
	s       *session
	took    time.Duration // how long the connection took
	flights []*flight
	loaded  []*flight
	mute    bool // the server does not acknowledge PING
	trips   []time.Duration
}

// warmPings are sent before the requests. With the acknowledgement of SETTINGS there are three round trips; gRPC
// servers take a fourth PING in a row for abuse, and one more comes before the release.
const warmPings = 2

// prepare warms the connection up, writes everything but what is held back, and waits until the server has read it.
func (v *convoy) prepare(ctx context.Context, c *Client) {
	v.s.watch(ctx, c.requestTimeout)
	for range warmPings {
		v.trips = append(v.trips, v.ping()...)
	}
	v.s.sock.SetDeadline(time.Now().Add(c.requestTimeout))
	v.s.sock.SetWriteDeadline(time.Now().Add(c.requestTimeout / 2))
	v.loaded = v.s.load(v.flights, true, c.requestTimeout/2)
	v.s.sock.SetWriteDeadline(time.Now().Add(c.requestTimeout))
	v.flights = slices.DeleteFunc(v.flights, func(f *flight) bool { return f.strm == nil })
	v.ping()
	if v.mute {
		settle(ctx, v.loaded)
	}
	v.trips = append(v.trips, v.s.settled()...)
}

// ping waits until the server has read what was written so far, and gives the round trip; none when it does not say so.
func (v *convoy) ping() []time.Duration {
	if v.mute {
		return nil
	}
	trip, err := v.s.ping(v.took)
	v.mute = errors.Is(err, errMute)
	if err != nil {
		return nil
	}
	return []time.Duration{trip}
}

// settled is how long the server took for the settings.
func (s *session) settled() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trips
}
