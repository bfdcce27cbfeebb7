package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// referenceH1 is the last-byte technique over HTTP/1.1 as plainly as it can be written, to hold internal/fire against:
// everything but the last byte on a connection each, a pause, and the last bytes in a tight loop. TCP_NODELAY is on, as
// always in Go. The pause is as long as that of internal/fire, so that none of the two lets the server sleep longer.
func referenceH1(dial func() (net.Conn, error), request string, n int) error {
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := dial()
		if err != nil {
			return err
		}
		defer conn.Close()
		conns[i] = conn
		if _, err := io.WriteString(conn, request[:len(request)-1]); err != nil {
			return err
		}
	}
	time.Sleep(max(2*time.Millisecond, time.Duration(n)*50*time.Microsecond))
	last := []byte(request[len(request)-1:])
	for _, conn := range conns {
		if _, err := conn.Write(last); err != nil {
			return err
		}
	}
	for _, conn := range conns {
		if err := readH1(conn); err != nil {
			return err
		}
	}
	return nil
}

func readH1(conn net.Conn) error {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	return drained(resp, err)
}

// requestH1 is the order on the wire.
func requestH1(host, key string) string {
	body := payload(key)
	return strings.Join([]string{
		"POST /orders HTTP/1.1",
		"Host: " + host,
		"Content-Type: application/json",
		"Idempotency-Key: " + key,
		fmt.Sprintf("Content-Length: %d", len(body)),
		"", body}, "\r\n")
}
