package fire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"retrysafe/internal/trace"
)

// link is one new connection.
type link struct {
	tcp      *net.TCPConn
	conn     net.Conn // tcp itself, or TLS on top of it
	number   int      // unique in the client, from 1
	protocol string
	took     time.Duration // how long the TCP connection took: the round trip, and the name look-up if any
}

// open connects to the host of u. When it fails, phase says in which part; the link then holds the number of a
// connection that was made before TLS failed.
func (c *Client) open(ctx context.Context, u *url.URL) (l link, phase trace.Phase, err error) {
	limited, cancel := context.WithTimeout(ctx, c.connectTimeout)
	defer cancel()
	start := time.Now()
	dialer := net.Dialer{KeepAlive: -1}
	conn, err := dialer.DialContext(limited, "tcp", address(u))
	if err != nil {
		return l, trace.PhaseDial, c.dialError(limited, err)
	}
	tcp := conn.(*net.TCPConn)
	l = link{tcp: tcp, conn: tcp, number: int(c.conns.Add(1)), protocol: "HTTP/1.1", took: time.Since(start)}
	if err := tcp.SetNoDelay(true); err != nil {
		tcp.Close()
		return l, trace.PhaseDial, err
	}
	if u.Scheme != "https" {
		return l, "", nil
	}
	secure := tls.Client(tcp, c.tlsConfig(u.Hostname()))
	if err := secure.HandshakeContext(limited); err != nil {
		tcp.Close()
		return l, trace.PhaseTLS, c.dialError(limited, err)
	}
	l.conn = secure
	l.protocol = "HTTP/1.1 over " + tls.VersionName(secure.ConnectionState().Version)
	return l, "", nil
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
	config.DynamicRecordSizingDisabled = true
	return config
}

func (c *Client) dialError(limited context.Context, err error) error {
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no connection within %v: %w", c.connectTimeout, err)
	}
	return err
}
