package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"retrysafe/internal/trace"
)

// The page's parts. The scripts are one program, in the order of their names.
//
//go:embed html/report.tmpl html/*.css html/*.js
var htmlParts embed.FS

// HTML writes one page for an auditor: verdict and coverage, what was not tested, every verdict, the diagnoses, and for each case its
// timeline and answers. The page loads nothing, and a browser keeps it from doing so. Without scripts, verdicts and findings are shown; with them
// the evidence of a case is drawn when the case is opened, and that of all that failed when the page is printed.
func HTML(w io.Writer, run *trace.Run, o Options) error {
	style, err := htmlPart(".css")
	if err != nil {
		return err
	}
	script, err := htmlPart(".js")
	if err != nil {
		return err
	}
	page, err := newHTMLPage(run, o)
	if err != nil {
		return err
	}
	page.Style, page.Script = template.CSS(style), template.JS(script)
	page.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", sourceHash(style), sourceHash(script))
	t, err := template.ParseFS(htmlParts, "html/report.tmpl")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := t.Execute(out, page); err != nil {
		return err
	}
	return out.Flush()
}

// htmlPart joins the embedded files of a kind.
func htmlPart(ext string) (string, error) {
	files, err := htmlParts.ReadDir("html")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ext) {
			text, err := htmlParts.ReadFile("html/" + f.Name())
			if err != nil {
				return "", err
			}
			b.Write(text)
		}
	}
	return b.String(), nil
}

// sourceHash names an inline style or script in a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
