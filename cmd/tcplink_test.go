//go:build unix

package cmd

import (
	"io"
	"net"
	"sync"
	"testing"
)

// tcpLink is the network between tool and shop. It counts connections, and can be cut.
type tcpLink struct {
	listener net.Listener
	shop     string
	// moment is the number of the connection at which do is called, before anything goes through it.
	moment int
	do     func() error

	mu    sync.Mutex
	n     int
	open  map[net.Conn]bool
	isCut bool
	err   error
}

func newTCPLink(t *testing.T, shop string, moment int, do func() error) *tcpLink {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &tcpLink{listener: l, shop: shop, moment: moment, do: do, open: map[net.Conn]bool{}}
	go k.accept()
	t.Cleanup(k.cutAll)
	return k
}

func (k *tcpLink) address() string { return k.listener.Addr().String() }

func (k *tcpLink) accept() {
	for {
		conn, err := k.listener.Accept()
		if err != nil {
			return
		}
		k.mu.Lock()
		k.n++
		now := k.n == k.moment
		k.mu.Unlock()
		if now {
			err := k.do()
			k.mu.Lock()
			k.err = err
			k.mu.Unlock()
		}
		go k.forward(conn)
	}
}

// forward carries one connection. A shop that is gone resets it.
func (k *tcpLink) forward(conn net.Conn) {
	defer conn.Close()
	shop, err := net.Dial("tcp", k.shop)
	if err != nil {
		return
	}
	defer shop.Close()
	if !k.keep(conn, shop) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{conn, shop}, {shop, conn}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].(*net.TCPConn).CloseWrite()
		})
	}
	both.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, conn)
	delete(k.open, shop)
}

// keep notes connections to be cut, or reports that everything is.
func (k *tcpLink) keep(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range conns {
		k.open[c] = true
	}
	return !k.isCut
}

// cutAll ends all connections, and lets no new ones in.
func (k *tcpLink) cutAll() {
	_ = k.listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isCut = true
	for c := range k.open {
		_ = c.Close()
	}
}

func (k *tcpLink) seen() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.n
}

// failed is what went wrong when do was called; nil when nothing did.
func (k *tcpLink) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
