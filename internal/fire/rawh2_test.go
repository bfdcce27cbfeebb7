package fire

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is an HTTP/2 server of which a test decides every frame.
type raw struct {
	*http2.Framer
	conn net.Conn
	mute bool // acknowledges nothing
	// pings is how many PINGs came.
	pings int
}

// listenRaw serves h2c by prior knowledge, after the preface was read.
func listenRaw(t testing.TB, handle func(*raw)) string {
	return listen(t, func(conn net.Conn) {
		hello := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(conn, hello); err != nil || string(hello) != http2.ClientPreface {
			t.Errorf("expected the preface, found %q, %v", hello, err)
			return
		}
		r := &raw{Framer: http2.NewFramer(conn, conn), conn: conn}
		r.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		handle(r)
	})
}

// next gives the next frame about a stream; nil at the end of the connection. Settings and PINGs are acknowledged.
func (r *raw) next() http2.Frame {
	for {
		f, err := r.ReadFrame()
		if err != nil {
			return nil
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !r.mute && !f.IsAck() {
				r.WriteSettingsAck()
			}
		case *http2.PingFrame:
			r.pings++
			if !r.mute {
				r.WritePing(true, f.Data)
			}
		case *http2.WindowUpdateFrame:
		default:
			return f
		}
	}
}

// end reads up to the end of a stream and gives its number; 0 at the end of the connection.
func (r *raw) end() uint32 {
	for f := r.next(); f != nil; f = r.next() {
		if id, ended := ends(f); ended {
			return id
		}
	}
	return 0
}

func ends(f http2.Frame) (id uint32, ended bool) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return f.StreamID, f.StreamEnded()
	case *http2.DataFrame:
		return f.StreamID, f.StreamEnded()
	}
	return 0, false
}

// block is a header block with a status and further fields.
func block(status int, lines ...string) []byte {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	if status > 0 {
		enc.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(status)})
	}
	for i := 0; i < len(lines); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: lines[i], Value: lines[i+1]})
	}
	return b.Bytes()
}

func (r *raw) head(id uint32, end bool, block []byte) {
	r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: end, EndHeaders: true})
}

// ok answers a stream.
func (r *raw) ok(id uint32) {
	r.head(id, false, block(200))
	r.WriteData(id, true, []byte("ok"))
}

// serveAll answers every stream at its end until the client is gone.
func (r *raw) serveAll() {
	for id := r.end(); id != 0; id = r.end() {
		r.ok(id)
	}
}
