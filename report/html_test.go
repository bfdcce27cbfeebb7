package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"retrysafe/internal/trace"
)

func htmlOf(t *testing.T, run *trace.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, run, testOptions()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// wideRun has so many endpoints, with the names of fullRun's again and again.
func wideRun(n int) *trace.Run {
	run := fullRun()
	for i := 0; len(run.Endpoints) < n; i++ {
		run.Endpoints = append(run.Endpoints, run.Endpoints[i].Brief(true))
	}
	return run
}

// attackedRun has text that wants to become markup wherever text comes from elsewhere.
func attackedRun() *trace.Run {
	run := fullRun()
	ep := &run.Endpoints[0]
	ep.Name = attack
	for i := range ep.Cases {
		c := &ep.Cases[i]
		c.Title, c.Power, c.Detail, c.Enable = attack, attack, attack, attack
		for j := range c.Findings {
			f := &c.Findings[j]
			f.Message, f.Expected, f.Actual, f.Curl = attack, attack, attack, []string{attack}
		}
		for j := range c.Trace {
			for k := range c.Trace[j].Exchanges {
				if r := c.Trace[j].Exchanges[k].Response; r != nil {
					r.Body.Text, r.Headers = attack, []trace.Header{{Name: "Location", Value: attack}}
				}
			}
		}
	}
	ep.Diagnoses[0].Title, ep.Diagnoses[0].Example = attack, attack
	run.Info.Target, run.Info.Labels = attack, map[string]string{"by": attack, "commit": attack}
	return run
}

const attack = `</script><script>document.title="taken"</script><!--<img src=x onerror="document.title='taken'">` + "\u2028" + `${1}{{.}}<a href="javascript:0">`

// TestHTMLStructure: whatever the run, the page is well formed, with and without scripts.
func TestHTMLStructure(t *testing.T) {
	for name, run := range map[string]*trace.Run{"full": fullRun(), "attacked": attackedRun(), "empty": {}, "pass": passRun(), "unreachable": unreachableRun(), "wide": wideRun(40)} {
		for _, scripts := range []bool{true, false} {
			doc, err := html.ParseWithOptions(bytes.NewReader(htmlOf(t, run)), html.ParseOptionEnableScripting(scripts))
			if err != nil {
				t.Fatal(err)
			}
			checkPage(t, fmt.Sprintf("%s, scripts %t", name, scripts), doc, !scripts)
		}
	}
}

func checkPage(t *testing.T, name string, doc *html.Node, linksEnd bool) {
	t.Helper()
	ids, level, endpoints := map[string]bool{}, 0, map[string]bool{}
	var links []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" {
				t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
			}
		}
		if id, ok := at["id"]; ok {
			if ids[id] || id == "" || strings.ContainsAny(id, " \t\n") {
				t.Errorf("%s: the id %q is empty, has blanks or is there twice", name, id)
			}
			ids[id] = true
			endpoints[id] = at["class"] == "endpoint"
		}
		switch n.Data {
		case "a":
			links = append(links, at["href"])
		case "h1", "h2", "h3", "h4":
			next, _ := strconv.Atoi(n.Data[1:])
			if next > level+1 {
				t.Errorf("%s: a heading of level %d follows one of level %d", name, next, level)
			}
			level = next
		case "th":
			if at["scope"] == "" {
				t.Errorf("%s: a header of a table without scope", name)
			}
		case "script":
			if at["type"] == "application/json" && !json.Valid([]byte(n.FirstChild.Data)) {
				t.Errorf("%s: no JSON: %.200s", name, n.FirstChild.Data)
			}
		case "html":
			if at["lang"] == "" {
				t.Errorf("%s: no language", name)
			}
		case "img", "iframe", "link", "object", "embed":
			t.Errorf("%s: <%s>", name, n.Data)
		}
	}
	for _, l := range links {
		target, err := url.PathUnescape(strings.TrimPrefix(l, "#"))
		if err != nil || !strings.HasPrefix(l, "#") {
			t.Errorf("%s: the link %q leaves the page", name, l)
			continue
		}
		if endpoint, _, _ := strings.Cut(target, "/"); !ids[target] && (linksEnd || !endpoints[endpoint]) {
			t.Errorf("%s: the link %q has no target", name, l)
		}
	}
}

// TestHTMLPolicy: the page says itself that nothing but its own style and script may run, by their digests.
func TestHTMLPolicy(t *testing.T) {
	text := string(htmlOf(t, fullRun()))
	for _, part := range []struct{ tag, directive string }{{"style", "style-src"}, {"script", "script-src"}} {
		_, rest, _ := strings.Cut(text, "<"+part.tag+">")
		inside, _, ok := strings.Cut(rest, "</"+part.tag+">")
		if want := part.directive + " '" + sourceHash(inside) + "'"; !ok || !strings.Contains(html.UnescapeString(text), want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if !strings.Contains(html.UnescapeString(text), "content=\"default-src 'none'; ") {
		t.Error("the policy allows what it does not name")
	}
}

// TestHTMLKeepsToItsSize: evidence is left out, and that is said, before a page becomes too large to be opened.
func TestHTMLKeepsToItsSize(t *testing.T) {
	run := wideRun(12)
	whole, err := collectEvidence(run, worstFirst(run), testOptions(), mostEvidence)
	if err != nil {
		t.Fatal(err)
	}
	if whole.note != "" {
		t.Errorf("said of a small page: %s", whole.note)
	}
	short, err := collectEvidence(run, worstFirst(run), testOptions(), whole.size()*3/4)
	if err != nil {
		t.Fatal(err)
	}
	if short.size() > whole.size()*3/4 || short.note == "" {
		t.Errorf("%d bytes of %d were allowed, said: %q", short.size(), whole.size()*3/4, short.note)
	}
}

// TestHTMLTellsLabels: the print is a document that says what was tested, by whom and when.
func TestHTMLTellsLabels(t *testing.T) {
	text := string(htmlOf(t, fullRun()))
	for _, want := range []string{"Ada &lt;ada@example.org&gt;", "4f2a1c", "sha256:3b1f0a9c2d4e5f60718293a4b5c6d7e8f9", "2026-01-02 03:04:05 UTC", "retrysafe 0.1.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if unlabelled := string(htmlOf(t, &trace.Run{})); !strings.Contains(unlabelled, "run with --label by=NAME") {
		t.Error("the page does not say that nobody is named")
	}
}

// TestHTMLContrast holds the colours of text to WCAG 2.2, 1.4.3: 4.5 to 1 on each background, in each scheme.
func TestHTMLContrast(t *testing.T) {
	style, err := htmlPart(".css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d schemes, expected light, dark and print", len(blocks))
	}
	for i, block := range blocks {
		colors := map[string]float64{}
		for _, c := range regexp.MustCompile(`--(\w+): #([0-9a-f]{6})`).FindAllStringSubmatch(block[1], -1) {
			colors[c[1]] = luminance(t, c[2])
		}
		for _, text := range []string{"text", "soft", "link", "fail", "error", "inconclusive", "warn", "pass", "skip"} {
			for _, ground := range []string{"bg", "panel"} {
				if ratio := contrast(colors[text], colors[ground]); ratio < 4.5 {
					t.Errorf("scheme %d: %s on %s has a contrast of %.1f", i, text, ground, ratio)
				}
			}
		}
		if ratio := contrast(colors["text"], colors["mark"]); ratio < 4.5 {
			t.Errorf("scheme %d: marked text has a contrast of %.1f", i, ratio)
		}
	}
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

func luminance(t *testing.T, hex string) float64 {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(v uint64) float64 {
		c := float64(v&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

// htmlFile writes the page of a run to a file of its own.
func htmlFile(t *testing.T, run *trace.Run) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report with blanks.html")
	if err := os.WriteFile(path, htmlOf(t, run), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHTMLInBrowser opens the page in a browser: it loads without a network and without a complaint, each case can be opened by
// keyboard and by its link, filters hide what does not match, and what failed is printed.
func TestHTMLInBrowser(t *testing.T) {
	b := newBrowser(t)
	b.screen(390, 800, "dark")
	b.open(htmlFile(t, fullRun()), "")
	t.Run("each case by keyboard", func(t *testing.T) { byKeyboard(t, b) })
	t.Run("fits a phone", func(t *testing.T) {
		if width := b.eval("document.documentElement.scrollWidth"); width != 390.0 {
			t.Errorf("the page is %v wide on a screen of 390", width)
		}
	})
	t.Run("unique ids", func(t *testing.T) {
		if twice := b.eval(`(() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i).join(" "); })()`); twice != "" {
			t.Errorf("twice: %v", twice)
		}
	})
	t.Run("every link has a target", func(t *testing.T) {
		if lost := b.eval(`[...document.querySelectorAll("a")].map((a) => decodeURIComponent(a.getAttribute("href").slice(1))).filter((id) => !document.getElementById(id)).join(" ")`); lost != "" {
			t.Errorf("no target: %v", lost)
		}
	})
	t.Run("link to a case", func(t *testing.T) {
		b.open(htmlFile(t, fullRun()), "#create-order/same-key-concurrent")
		if got := b.eval(`document.activeElement.closest("details").id + " " + document.activeElement.closest("details").open`); got != "create-order/same-key-concurrent true" {
			t.Errorf("the link leads to %v", got)
		}
		for what, count := range map[string]string{"timelines": ".timeline svg[role=img]", "answers": ".side", "marked lines": ".side .differs"} {
			if b.eval(`document.getElementById("create-order/same-key-concurrent").querySelectorAll("`+count+`").length`) == 0.0 {
				t.Errorf("no %s", what)
			}
		}
	})
	t.Run("filter", func(t *testing.T) {
		b.open(htmlFile(t, fullRun()), "#?rule=lost-after-cut")
		const shown = `[...document.querySelectorAll("details.endpoint:not([hidden]) details.case:not([hidden]) h4")].map((h) => h.textContent).join()`
		if got := b.eval(shown); got != "✗ FAIL client-timeout" {
			t.Errorf("shown: %v", got)
		}
		b.eval(`const text = document.getElementById("filter-text"); text.value = "no such text"; text.dispatchEvent(new Event("input", { bubbles: true }))`)
		if got := b.eval(shown + ` + location.hash`); got != "#?rule=lost-after-cut&text=no+such+text" {
			t.Errorf("shown: %v", got)
		}
	})
	t.Run("print", func(t *testing.T) {
		b.open(htmlFile(t, fullRun()), "")
		b.eval(`addEventListener("beforeprint", () => { window.printed = [...document.querySelectorAll("details.case")].filter((c) => c.open).map((c) => c.id).join(" "); })`)
		if pdf := b.print(); !strings.HasPrefix(string(pdf), "%PDF-") {
			t.Errorf("no PDF: %.20q", pdf)
		}
		if got := b.eval("window.printed"); got !=
			"create-order/same-key-again create-order/same-key-concurrent create-order/client-timeout create-refund/client-timeout create-refund/first-request create-refund/same-key-again create-payment/same-key-again" {
			t.Errorf("printed: %v", got)
		}
		if n := b.eval(`document.querySelectorAll("details.case[open]").length`); n != 0.0 {
			t.Errorf("%v cases stay open", n)
		}
	})
	t.Run("hostile text stays text", func(t *testing.T) {
		b.open(htmlFile(t, attackedRun()), "")
		b.eval(`dispatchEvent(new Event("beforeprint"))`)
		if got := b.eval(`document.title + document.querySelectorAll("img, a[href^=javascript]").length`); got != "retrysafe: FAIL0" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("large", func(t *testing.T) {
		b.open(htmlFile(t, wideRun(40)), "")
		b.eval(`document.getElementById("grid").open = true`)
		if n := b.eval(`new Promise((done) => setTimeout(() => done(document.querySelectorAll("#grid tbody tr").length)))`); n != 40.0 {
			t.Errorf("%v rows for 40 endpoints", n)
		}
	})
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// byKeyboard goes through the page by Tab and opens by Enter whatever is closed, until every case has been opened.
func byKeyboard(t *testing.T, b *browser) {
	const focused = `(() => { const e = document.activeElement, d = e.closest("details");
		if (e === document.body) return "end"; if (e.localName !== "summary") return "other"; return d.open ? "open" : "closed"; })()`
	for presses := 0; ; presses++ {
		if presses > 2000 {
			t.Fatal("the page has no end")
		}
		b.press("Tab")
		at := b.eval(focused)
		if at == "end" {
			break
		}
		if at == "closed" {
			b.press("Enter")
			b.eval("new Promise((done) => setTimeout(done))")
		}
		if presses == 5 && b.eval(`getComputedStyle(document.activeElement).outlineStyle`) != "solid" {
			t.Error("what has the focus does not show it")
		}
	}
	if closed := b.eval(`[...document.querySelectorAll("details")].filter((d) => !d.open && d.id !== "grid").map((d) => d.textContent.slice(0, 60)).join("; ")`); closed != "" {
		t.Errorf("could not be opened: %v", closed)
	}
	if n := b.eval(`document.querySelectorAll("details.case .inside").length`); n != 14.0 {
		t.Errorf("%v cases were opened, expected 14", n)
	}
}
