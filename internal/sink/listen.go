package sink

import (
	"fmt"
	"net"
	"sync/atomic"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// Set is the sinks of a plan, listening. Close it when the run is over.
type Set struct {
	logs  map[string]*Log
	stops []func()
}

// Listen opens all sinks, or none. Times are those of the clock. The error says which address cannot be taken.
func Listen(sinks []*plan.Sink, clock func() trace.Nanos) (*Set, error) {
	s := &Set{logs: map[string]*Log{}}
	ids := &atomic.Int64{}
	for _, p := range sinks {
		l, err := net.Listen("tcp", p.Address())
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("cannot listen for the sink %s: %w", p.Name, err)
		}
		log := newLog(p.Name, p.First, clock, ids)
		s.logs[p.Name] = log
		if p.SMTP != "" {
			s.stops = append(s.stops, serveMail(l, log, mostMail))
		} else {
			s.stops = append(s.stops, newService(log, p.Key, p.KeyLifetime, p.Answer).serve(l))
		}
	}
	return s, nil
}

// Log is what arrived at the sink of that name; nil when there is none. A nil Set has none.
func (s *Set) Log(name string) *Log {
	if s == nil {
		return nil
	}
	return s.logs[name]
}

// Close ends all sinks and closes what is connected to them. A nil Set has nothing to close.
func (s *Set) Close() {
	if s == nil {
		return
	}
	for _, stop := range s.stops {
		stop()
	}
	s.stops = nil
}

// Service listens for calls, in place of a service that a client under test retries against.
type Service struct {
	// URL is where it listens.
	URL string
	*Log
	stop func()
}

// ServiceOptions say how a Service behaves.
type ServiceOptions struct {
	// Address is host:port; port 0 takes a free one.
	Address string
	// Key is the header that carries the key.
	Key string
	// Answer is what a call that is not failed gets.
	Answer plan.SinkAnswer
	// Fail says how to fail a call; nil for one that is to be served. It is asked one call at a time.
	Fail func(trace.Arrival) *plan.Failure
	// Clock gives the time of arrivals.
	Clock func() trace.Nanos
}

// Serve opens a Service. The error says that the address cannot be taken.
func Serve(o ServiceOptions) (*Service, error) {
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	log := newLog("client", nil, o.Clock, &atomic.Int64{})
	log.decide = o.Fail
	return &Service{URL: "http://" + l.Addr().String(), Log: log, stop: newService(log, o.Key, 0, o.Answer).serve(l)}, nil
}

// Close ends it.
func (s *Service) Close() { s.stop() }
