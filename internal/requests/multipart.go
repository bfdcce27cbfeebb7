package requests

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"go.yaml.in/yaml/v4"
)

// boundary stands between the parts of a form with files.
const boundary = "retrysafe-part"

// readParts takes multipart/form-data apart; nil when the text is none.
func readParts(media, text string) []part {
	_, parameters, err := mime.ParseMediaType(media)
	if err != nil || parameters["boundary"] == "" {
		return nil
	}
	var parts []part
	for r := multipart.NewReader(strings.NewReader(text), parameters["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return parts
		}
		if err != nil {
			return nil
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return nil
		}
		parts = append(parts, part{name: p.FormName(), value: string(value), file: p.FileName(), media: p.Header.Get("Content-Type")})
	}
}

// multipart writes multipart/form-data (RFC 7578). What files hold is not in the source.
func (f *filler) multipart(parts []part) string {
	f.inForm = true
	tree := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range parts {
		if p.file == "" {
			tree.Content = append(tree.Content, textNode(p.name), textNode(p.value))
		}
	}
	f.chooseFree(tree)
	var out strings.Builder
	escape := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	for _, p := range parts {
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, escape.Replace(p.name))
		value := "the contents of " + p.file
		if p.file == "" {
			value = f.value("$"+member(p.name), p.name, p.value).text
		} else {
			fmt.Fprintf(&out, "; filename=\"%s\"", escape.Replace(p.file))
			f.l.comment(f.of, "what the file %s holds is not in the source: its part of the form holds a text instead", shown(p.file))
		}
		if p.media != "" {
			fmt.Fprintf(&out, "\r\nContent-Type: %s", oneLine(p.media))
		}
		fmt.Fprintf(&out, "\r\n\r\n%s\r\n", value)
	}
	fmt.Fprintf(&out, "--%s--\r\n", boundary)
	return planText(out.String())
}
