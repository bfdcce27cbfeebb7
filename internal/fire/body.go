package fire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// keptOfLonger is how many bytes are kept of a body that is longer than the limit: enough to see what it is, and little enough for
// a run with hundreds of long answers to be written down.
const keptOfLonger = 16 << 10

// keeper takes in a body: it keeps the beginning, counts and hashes the rest, and refuses what is too much.
type keeper struct {
	lim  limits
	kept []byte
	hash hash.Hash // nil while all of the body is kept
	size int64
}

func (k *keeper) Write(p []byte) (int, error) {
	if k.size+int64(len(p)) > k.lim.whole {
		k.size = k.lim.whole + 1
		return 0, fmt.Errorf("larger than %d bytes, which is as much as is read", k.lim.whole)
	}
	k.size += int64(len(p))
	if k.hash == nil && k.size > k.lim.body {
		k.hash = sha256.New()
		k.hash.Write(k.kept)
	}
	if k.hash != nil {
		k.hash.Write(p)
	}
	k.kept = append(k.kept, p[:min(int64(len(p)), k.lim.body-int64(len(k.kept)))]...)
	return len(p), nil
}

// body is what came, when it came whole.
func (k *keeper) body() trace.Body {
	if k.hash == nil {
		return text(k.kept, false)
	}
	b := text(k.kept[:min(len(k.kept), keptOfLonger)], true)
	b.Size, b.SHA256 = k.size, hex.EncodeToString(k.hash.Sum(nil))
	return b
}

// readBody reads all of r. On an error only Size of the body is set: how many bytes had come.
func readBody(r io.Reader, lim limits) (trace.Body, error) {
	k := keeper{lim: lim}
	if _, err := io.CopyBuffer(&k, r, make([]byte, readAhead)); err != nil {
		return trace.Body{Size: k.size}, err
	}
	return k.body(), nil
}

// keepBody is a body that was sent, kept as far as limit bytes.
func keepBody(all []byte, limit int64) trace.Body {
	if int64(len(all)) <= limit {
		return text(all, false)
	}
	sum := sha256.Sum256(all)
	b := text(all[:min(limit, keptOfLonger)], true)
	b.Size, b.SHA256 = int64(len(all)), hex.EncodeToString(sum[:])
	return b
}

// text is a body of which kept is all, or the beginning. A character that the limit cut in two is left out.
func text(kept []byte, truncated bool) trace.Body {
	b := trace.Body{Size: int64(len(kept)), Truncated: truncated}
	whole := kept
	if truncated {
		whole = kept[:wholeRunes(kept)]
	}
	if utf8.Valid(whole) {
		b.Text = string(whole)
		return b
	}
	b.Base64 = append([]byte(nil), kept...)
	return b
}

// wholeRunes is how many bytes of p come before a character that has only begun.
func wholeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}
