package main

import (
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// network is a proxy on loopback that delays every segment of every connection by itself, each way, by a random time up
// to most, in order: what lies between a client and a distant server. It serves until the listener is closed.
func network(target string, most time.Duration) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				out, err := net.Dial("tcp", target)
				if err != nil {
					_ = in.Close()
					return
				}
				go delayed(out, in, most)
				delayed(in, out, most)
			}()
		}
	}()
	return l, nil
}

// segment is what one read brought, and when it may go on.
type segment struct {
	data []byte
	due  time.Time
}

// delayed copies from src to dst, each read by a random time later, never before the one ahead of it.
func delayed(dst, src net.Conn, most time.Duration) {
	defer dst.Close()
	queue := make(chan segment, 1024)
	go func() {
		defer close(queue)
		for {
			buf := make([]byte, 32<<10)
			n, err := src.Read(buf)
			if n > 0 {
				queue <- segment{buf[:n], time.Now().Add(rand.N(most))}
			}
			if err != nil {
				return
			}
		}
	}()
	for s := range queue {
		sleep(time.Until(s.due))
		if _, err := dst.Write(s.data); err != nil {
			_, _ = io.Copy(io.Discard, src)
			return
		}
	}
}
