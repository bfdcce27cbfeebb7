package fire

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"

	"retrysafe/internal/trace"
)

// connect makes the connection below TLS: to the Unix socket, through the proxy, or to the host of u.
func (c *Client) connect(ctx context.Context, u *url.URL) (socket, error) {
	dialer := net.Dialer{KeepAlive: -1}
	if c.unix != "" {
		conn, err := dialer.DialContext(ctx, "unix", c.unix)
		if err != nil {
			return nil, err
		}
		return conn.(*net.UnixConn), nil
	}
	to := u
	if c.proxy != nil {
		if to = c.proxy; to.Scheme != "http" || to.Hostname() == "" {
			return nil, fmt.Errorf("expected a proxy such as http://127.0.0.1:3128, found %q", to.Redacted())
		}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address(to))
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	if err = tcp.SetNoDelay(true); err == nil && c.proxy != nil {
		err = tunnel(ctx, tcp, c.proxy, address(u))
	}
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return tcp, nil
}

// tunnel asks a proxy to connect to a target (RFC 9110, section 9.3.6).
func tunnel(ctx context.Context, conn net.Conn, proxy *url.URL, target string) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	headers := []trace.Header{{Name: "Host", Value: target}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		headers = append(headers, trace.Header{Name: "Proxy-Authorization", Value: "Basic " + basic})
	}
	if _, err := conn.Write(renderLines("CONNECT", target, headers, nil)); err != nil {
		return fmt.Errorf("proxy %s: %w", proxy.Host, err)
	}
	status, err := proxyStatus(conn)
	if err != nil {
		return fmt.Errorf("proxy %s does not answer CONNECT %s: %w", proxy.Host, target, err)
	}
	if _, code, _ := strings.Cut(status, " "); !strings.HasPrefix(status, "HTTP/1.") || !strings.HasPrefix(code, "2") {
		return fmt.Errorf("proxy %s refuses to connect to %s: it answers %q", proxy.Host, target, clip(status))
	}
	return nil
}

// proxyHead is how many bytes of a proxy's answer are read: more than the headers of any need.
const proxyHead = 4 << 10

// proxyStatus reads the head of a proxy's answer, not a byte beyond it, and gives its first line.
func proxyStatus(conn net.Conn) (string, error) {
	head, one := make([]byte, 0, 256), make([]byte, 1)
	for !strings.HasSuffix(string(head), "\r\n\r\n") {
		if len(head) == proxyHead {
			return "", fmt.Errorf("the head of its answer is larger than %d bytes", proxyHead)
		}
		n, err := conn.Read(one)
		if err != nil {
			return "", err
		}
		head = append(head, one[:n]...)
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	return line, nil
}
