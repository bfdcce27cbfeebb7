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
	bare     bool          // the server asked for a client certificate, and none was presented
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

// open connects to the host of u, as the owner of the certificate where there is one. When it fails, phase says in which part; the link then holds the number of a
// connection that was made before TLS or HTTP/2 failed.
func (c *Client) open(ctx context.Context, u *url.URL, as *tls.Certificate) (l link, phase trace.Phase, err error) {
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
	if phase, err = c.agree(limited, u, as, &l); err != nil {
		sock.Close()
		return l, phase, c.dialError(limited, err)
	}
	return l, "", nil
}

// agree does what comes before HTTP: TLS, and the choice of the version.
func (c *Client) agree(ctx context.Context, u *url.URL, as *tls.Certificate, l *link) (trace.Phase, error) {
	h2, over := c.firing == FiringH2, ""
	if u.Scheme == "https" {
		secure := tls.Client(l.sock, c.tlsConfig(u.Hostname(), as, &l.bare))
		if err := secure.HandshakeContext(ctx); err != nil {
			return trace.PhaseTLS, l.unpresented(err)
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
	var alert *net.OpError
	switch {
	case errors.As(err, &alert) && alert.Op == "remote error": // TLS 1.3 refuses certificates behind the handshake only
		return trace.PhaseTLS, l.unpresented(alert)
	case err != nil && l.bare:
		return trace.PhaseTLS, l.unpresented(err)
	}
	return trace.PhaseDial, err
}

// unpresented says of a connection that broke that a certificate was missing, if one was. The server's own words may be lost:
// it may close before they are read.
func (l link) unpresented(err error) error {
	if !l.bare {
		return err
	}
	return fmt.Errorf("%s: %w", trace.NoCertificate, err)
}

// tlsConfig is the configuration for one connection. Record sizing is off because it would split the end of a request
// over two records, and no session is resumed, because that would go on as whoever began it. Bare becomes true when the
// server asks for a certificate and there is none for it.
func (c *Client) tlsConfig(host string, as *tls.Certificate, bare *bool) *tls.Config {
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
	config.ClientSessionCache = nil
	choose := config.GetClientCertificate
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		switch {
		case as != nil:
			return as, nil
		case choose != nil:
			return choose(asked)
		}
		for i := range config.Certificates {
			if asked.SupportsCertificate(&config.Certificates[i]) == nil {
				return &config.Certificates[i], nil
			}
		}
		*bare = true
		return &tls.Certificate{}, nil
	}
	return config
}

func (c *Client) offersH2() bool { return slices.Contains([]string{FiringAuto, FiringH2}, c.firing) }

func (c *Client) dialError(limited context.Context, err error) error {
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no connection within %v: %w", c.connectTimeout, err)
	}
	return err
}
