package judge

import (
	"bytes"
	"compress/gzip"
	"testing"

	"retrysafe/internal/trace"
)

// gzipped is an answer with its body compressed, as it goes over the wire.
func gzipped(a answer) answer { return compressedAt(a, gzip.BestCompression) }

func compressedAt(a answer, level int) answer {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic(err)
	}
	_, _ = z.Write(a.response.Body.Bytes()) // into memory
	_ = z.Close()
	r := *a.response
	r.Headers = append([]trace.Header{{Name: "content-encoding", Value: "GZIP"}}, r.Headers...)
	r.Body = trace.Body{Base64: out.Bytes(), Size: int64(out.Len())}
	return answer{response: &r, takes: a.takes}
}

func TestContent(t *testing.T) {
	bomb := gzipped(reply(200, string(bytes.Repeat([]byte("x"), decodedMost+1)))).response
	cut := gzipped(reply(200, `{"id":1}`)).response
	cut.Body.Base64 = cut.Body.Base64[:12]
	encoded := reply(200, `{"id":1}`, "Content-Encoding: br").response
	tests := []struct {
		name   string
		r      *trace.Response
		want   string
		reason string
	}{
		{"plain", reply(200, `{"id":1}`).response, `{"id":1}`, "as it came"},
		{"gzip", gzipped(reply(200, `{"id":1}`)).response, `{"id":1}`, "decompressed"},
		{"no gzip inside", reply(200, `{"id":1}`, "Content-Encoding: gzip").response, `{"id":1}`, "as it came"},
		{"cut off", cut, string(cut.Body.Base64), "as it came"},
		{"bomb", bomb, string(bomb.Body.Base64), "not beyond the bound"},
		{"another coding", encoded, `{"id":1}`, "as it came"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(content(tt.r)); got != tt.want {
				t.Errorf("%s: got %d bytes, want %d", tt.reason, len(got), len(tt.want))
			}
		})
	}
}

func TestCompressedControl(t *testing.T) {
	if l := Learn(facts(), twice(t, gzipped(order(1)), gzipped(order(2)))); !l.Sound || len(l.CreationFields) != 2 {
		t.Errorf("fields of compressed answers are found: got %+v", l)
	}
}
