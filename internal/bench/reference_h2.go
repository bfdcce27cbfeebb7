package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// referenceH2 is the technique of one write over HTTP/2 as plainly as it can be written: all requests but the last byte of
// their bodies, a PING and its acknowledgement, then the last DATA frames of all streams in one write. The records of
// Go's TLS must not be split for that.
func referenceH2(host, key string, n int) error {
	conn, err := tls.Dial("tcp", host,
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, DynamicRecordSizingDisabled: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	w := bufio.NewWriterSize(conn, 1<<16)
	fr := http2.NewFramer(w, bufio.NewReader(conn))
	body := []byte(payload(key))
	head := headH2(host, key, len(body))
	_, err = w.WriteString(http2.ClientPreface)
	err = errors.Join(err, fr.WriteSettings())
	for i := range n {
		err = errors.Join(err,
			fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream(i), BlockFragment: head, EndHeaders: true}),
			fr.WriteData(stream(i), false, body[:len(body)-1]))
	}
	if err = errors.Join(err, fr.WritePing(false, [8]byte{}), w.Flush()); err != nil {
		return err
	}
	if err := readH2(fr, w, func(f http2.Frame) bool { return isPong(f) }); err != nil {
		return err
	}
	for i := range n {
		err = errors.Join(err, fr.WriteData(stream(i), true, body[len(body)-1:]))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		return err
	}
	ended := 0
	return readH2(fr, w, func(f http2.Frame) bool {
		if f.Header().Flags.Has(http2.FlagDataEndStream) && f.Header().StreamID > 0 {
			ended++
		}
		return ended == n
	})
}

// stream is the number of the i-th request's stream.
func stream(i int) uint32 { return uint32(2*i + 1) }

// headH2 is a header block that does not depend on those before it, so that all streams can have the same.
func headH2(host, key string, length int) []byte {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSize(0)
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: host},
		{Name: ":path", Value: "/orders"}, {Name: "content-type", Value: "application/json"},
		{Name: "idempotency-key", Value: key}, {Name: "content-length", Value: strconv.Itoa(length)},
	} {
		_ = enc.WriteField(f) // into memory
	}
	return block.Bytes()
}

func isPong(f http2.Frame) bool {
	ping, ok := f.(*http2.PingFrame)
	return ok && ping.IsAck()
}

// readH2 reads frames until done is true of one.
func readH2(fr *http2.Framer, w *bufio.Writer, done func(http2.Frame) bool) error {
	for {
		f, err := fr.ReadFrame()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if err := errors.Join(fr.WriteSettingsAck(), w.Flush()); err != nil {
					return err
				}
			}
		case *http2.RSTStreamFrame:
			return fmt.Errorf("the server reset stream %d: %v", f.StreamID, f.ErrCode)
		case *http2.GoAwayFrame:
			return fmt.Errorf("the server sent GOAWAY: %v", f.ErrCode)
		}
		if done(f) {
			return nil
		}
	}
}
