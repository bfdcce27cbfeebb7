package fire

import (
	"context"
	"encoding/base64"
	"errors"
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
	to, proxy := u, c.proxyOf(u)
	if proxy != nil {
		if to = proxy; to.Scheme != "http" || to.Hostname() == "" {
			return nil, fmt.Errorf("expected a proxy such as http://127.0.0.1:3128, found %q", to.Redacted())
		}
	}
	tcp, err := c.reach(ctx, &dialer, address(to))
	if err != nil && proxy != nil {
		err = fmt.Errorf("proxy %s: %w", proxy.Host, err)
	}
	if err != nil {
		return nil, err
	}
	if err = tcp.SetNoDelay(true); err == nil && proxy != nil {
		err = tunnel(ctx, tcp, proxy, address(u))
	}
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return tcp, nil
}

// proxyOf is the proxy that is asked to connect to the host of u; nil for none.
func (c *Client) proxyOf(u *url.URL) *url.URL {
	if c.proxy == nil {
		return nil
	}
	return c.proxy(u)
}

// reach connects to an address, or to the first of those that stand for it which takes the connection.
func (c *Client) reach(ctx context.Context, dialer *net.Dialer, address string) (*net.TCPConn, error) {
	all := []string{address}
	if host, port, err := net.SplitHostPort(address); c.resolve != nil && err == nil {
		if instead := c.resolve(host, port); len(instead) > 0 {
			all = nil
			for _, ip := range instead {
				all = append(all, net.JoinHostPort(ip, port))
			}
		}
	}
	var errs []error
	for _, one := range all {
		conn, err := dialer.DialContext(ctx, "tcp", one)
		if err == nil {
			return conn.(*net.TCPConn), nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
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
		return fmt.Errorf("proxy %s refuses to connect to %s: it answers %q%s", proxy.Host, target, clip(status), otherPort(target))
	}
	return nil
}

// otherPort ends the message about a refusal where the port may be why; empty where it is that of https.
func otherPort(target string) string {
	if strings.HasSuffix(target, ":443") {
		return ""
	}
	return " (many proxies allow CONNECT to port 443 only)"
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
