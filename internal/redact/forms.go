package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// forms are the spellings under which a secret can occur, without repetition: its own, and those of what a server reads where the
// secret stands in a URL as it is.
func forms(v string) []string {
	var out []string
	add := func(v string) {
		all := append([]string{v}, base64Forms(v)...)
		if !plain.MatchString(v) {
			all = slices.Concat(all, urlForms(v), jsonForms(v), htmlForms(v))
		}
		for _, f := range all {
			if f != "" && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	add(v)
	for _, decode := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
		if read, err := decode(v); err == nil && read != v && len(read) >= MinLength {
			add(read)
		}
	}
	return out
}

// plain is what URLs, JSON and HTML spell as it is.
var plain = regexp.MustCompile(`^[0-9A-Za-z_.-]*$`)

// percent is a byte as URLs spell it.
var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

func urlForms(v string) []string {
	var out []string
	for _, f := range []string{url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(url.QueryEscape(v), "+", "%20")} {
		out = append(out, f, percent.ReplaceAllStringFunc(f, strings.ToLower))
	}
	return out
}

// jsonForms are those inside a JSON text, and those inside a JSON text that is quoted in another one.
func jsonForms(v string) []string {
	once := jsonOnce(v)
	out := once
	for _, f := range once {
		out = append(out, jsonOnce(f)...)
	}
	return out
}

// jsonOnce are the ways to quote a text: only what must be, slashes too, what HTML has a use for (as Go does), all beyond ASCII.
func jsonOnce(v string) []string {
	least := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v)
	quoted, _ := json.Marshal(v) // a text can always be written
	forHTML := string(quoted[1 : len(quoted)-1])
	return []string{least, strings.ReplaceAll(least, "/", `\/`), forHTML, asciiOnly(least), asciiOnly(forHTML)}
}

// asciiOnly escapes what is beyond ASCII in a JSON text.
func asciiOnly(s string) string {
	var out strings.Builder
	for _, c := range s {
		if c < 0x80 {
			out.WriteRune(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

func htmlForms(v string) []string {
	escaped := html.EscapeString(v)
	return []string{escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(escaped)}
}

// leastBase64 is the shortest part of a base64 text that is taken for that of a secret: 36 bits do not agree by accident.
const leastBase64 = 6

// base64Forms are v in base64, and what is the same in base64 of every text that has v in it: behind any number of bytes, of
// which only the remainder by three matters, without the digits that hold bits of its neighbours.
func base64Forms(v string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, enc.EncodeToString([]byte(v)), strings.TrimRight(enc.EncodeToString([]byte(v)), "="))
		for behind := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("-", behind) + v))
			inner := text[(behind*8+5)/6 : (behind+len(v))*8/6]
			if len(inner) >= leastBase64 {
				out = append(out, inner)
			}
		}
	}
	return out
}
