package fire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"retrysafe/internal/trace"
)

// link is one new connection.
type link struct {
	sock     socket
	conn     net.Conn // sock itself, or TLS on top of it
	number   int      // unique in the client, from 1
	protocol string
	took     time.Duration // how long it took without TLS: the round trip, and the name look-up if any
	h2       *session      // nil for HTTP/1.1
}

// socket is a connection of the system: TCP or Unix.
type socket interface {
	net.Conn
	CloseWrite() error
}

// dialling is how many connections are made at once. A thousand TLS handshakes together would share the processor so
// that each takes seconds; 64 of them take 0.1 s each on two cores, and keep the line full up to a round trip of 100 ms.
const dialling = 64

// open connects to the host of u. When it fails, phase says in which part; the link then holds the number of a
// connection that was made before TLS or HTTP/2 failed.
func (c *Client) open(ctx context.Context, u *url.URL) (l link, phase trace.Phase, err error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return l, trace.PhaseDial, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, c.connectTimeout)
	defer cancel()
	start := time.Now()
	sock, err := c.connect(limited, u)
	if err != nil {
		return l, trace.PhaseDial, c.dialError(limited, err)
	}
	l = link{sock: sock, conn: sock, number: int(c.conns.Add(1)), protocol: "HTTP/1.1", took: time.Since(start)}
	if phase, err = c.agree(limited, u, &l); err != nil {
		sock.Close()
		return l, phase, c.dialError(limited, err)
	}
	return l, "", nil
}

// agree does what comes before HTTP: TLS, and the choice of the version.
func (c *Client) agree(ctx context.Context, u *url.URL, l *link) (trace.Phase, error) {
	h2, over := c.firing == FiringH2, ""
	if u.Scheme == "https" {
		secure := tls.Client(l.sock, c.tlsConfig(u.Hostname()))
		if err := secure.HandshakeContext(ctx); err != nil {
			return trace.PhaseTLS, err
		}
		l.conn = secure
		state := secure.ConnectionState()
		over = " over " + tls.VersionName(state.Version)
		l.protocol += over
		if h2 && state.NegotiatedProtocol != "h2" {
			return trace.PhaseTLS, errors.New("the server does not offer HTTP/2 (ALPN): use firing auto or h1")
		}
		h2 = state.NegotiatedProtocol == "h2"
	}
	if !h2 {
		return "", nil
	}
	l.protocol = "HTTP/2" + over
	var err error
	l.h2, err = c.newSession(ctx, l)
	return trace.PhaseDial, err
}

// tlsConfig is the configuration for one host. Record sizing is off because it would split the end of a request
// over two records.
func (c *Client) tlsConfig(host string) *tls.Config {
	config := c.tls.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	config.NextProtos = []string{"http/1.1"}
	if c.offersH2() {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	config.DynamicRecordSizingDisabled = true
	return config
}

func (c *Client) offersH2() bool { return slices.Contains([]string{FiringAuto, FiringH2}, c.firing) }

func (c *Client) dialError(limited context.Context, err error) error {
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no connection within %v: %w", c.connectTimeout, err)
	}
	return err
}
