package fire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// readBody reads all of r. On an error only Size of the body is set: how many bytes had come.
func readBody(r io.Reader, lim limits) (trace.Body, error) {
	kept, err := io.ReadAll(io.LimitReader(r, lim.body))
	if err != nil {
		return trace.Body{Size: int64(len(kept))}, err
	}
	if int64(len(kept)) < lim.body {
		return text(kept, false), nil
	}
	hash := sha256.New()
	hash.Write(kept)
	more, err := io.Copy(hash, io.LimitReader(r, lim.whole-lim.body+1))
	size := lim.body + more
	if err == nil && size > lim.whole {
		err = fmt.Errorf("larger than %d bytes, which is as much as is read", lim.whole)
	}
	if err != nil {
		return trace.Body{Size: size}, err
	}
	b := text(kept, more > 0)
	if b.Size = size; b.Truncated {
		b.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}
	return b, nil
}

// keepBody is a body that was sent, kept as far as limit bytes.
func keepBody(all []byte, limit int64) trace.Body {
	if int64(len(all)) <= limit {
		return text(all, false)
	}
	sum := sha256.Sum256(all)
	b := text(all[:limit], true)
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
