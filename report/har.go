package report

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// The part of HAR 1.2 that is written. -1 stands for what is not known. Fields that begin with an underscore are ours.
type (
	harFile struct {
		Log harLog `json:"log"`
	}
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
	}
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started    string      `json:"startedDateTime"`
		Time       float64     `json:"time"`
		Request    harRequest  `json:"request"`
		Response   harResponse `json:"response"`
		Cache      struct{}    `json:"cache"`
		Timings    harTimings  `json:"timings"`
		Connection string      `json:"connection,omitempty"`
		Comment    string      `json:"comment,omitempty"`
		ID         int         `json:"_id"`
		Endpoint   string      `json:"_endpoint"`
		Scenario   string      `json:"_scenario"`
		Round      int         `json:"_round"`
		Label      string      `json:"_label,omitempty"`
		Copy       int         `json:"_copy"`
		Class      string      `json:"_class"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		Body        *harBody  `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int64     `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int64      `json:"bodySize"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harBody struct {
		MimeType string `json:"mimeType"`
		Text     string `json:"text"`
		Encoding string `json:"_encoding,omitempty"`
	}
	harContent struct {
		Size     int64  `json:"size"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Encoding string `json:"encoding,omitempty"`
		Comment  string `json:"comment,omitempty"`
	}
	harTimings struct {
		Blocked float64 `json:"blocked"`
		DNS     float64 `json:"dns"`
		Connect float64 `json:"connect"`
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
		SSL     float64 `json:"ssl"`
	}
)

// HAR writes every request of the run, set-up included, with its answer and times, ordered by the time of sending. A repeated header has a
// line for each value; a request without an answer has status 0 and says in its comment how it ended.
func HAR(w io.Writer, run *trace.Run, _ Options) error {
	entries := []harEntry{}
	started := map[int]trace.Nanos{}
	add := func(ep *trace.Endpoint, scenario string, rounds []trace.Round) {
		for i := range rounds {
			for _, list := range [][]trace.Exchange{rounds[i].Setup, rounds[i].Exchanges} {
				for k := range list {
					x := &list[k]
					if _, seen := started[x.ID]; seen || x.Started == 0 || !x.Planted.IsZero() {
						continue // judged on the control's rounds, never sent, or sent by an earlier run
					}
					started[x.ID] = x.Started
					entries = append(entries, harEntryOf(run, ep, scenario, rounds[i].N, x))
				}
			}
		}
	}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		if ep.Control != nil {
			add(ep, "control", ep.Control.Rounds)
			add(ep, "control", ep.Control.Variants)
		}
		for k := range ep.Cases {
			add(ep, ep.Cases[k].Scenario, ep.Cases[k].Trace)
		}
	}
	slices.SortStableFunc(entries, func(a, b harEntry) int { return int(started[a.ID] - started[b.ID]) })
	return writeJSON(w, harFile{harLog{"1.2", harCreator{"retrysafe", run.Info.Tool.Version}, entries}})
}

func harEntryOf(run *trace.Run, ep *trace.Endpoint, scenario string, round int, x *trace.Exchange) harEntry {
	e := harEntry{Started: run.Info.Started.Add(x.Started.Duration()).UTC().Format(time.RFC3339Nano), Time: harMillis(x.Done - x.Started),
		Request: harRequestOf(x), Response: harResponseOf(x), ID: x.ID, Endpoint: clean(ep.Name), Scenario: scenario, Round: round, Label: x.Label, Copy: x.Copy,
		Class: string(x.Class), Timings: harTimings{Blocked: -1, DNS: -1, Connect: -1, SSL: -1}}
	if x.Conn > 0 {
		e.Connection = strconv.Itoa(x.Conn)
	}
	if x.Sent > 0 {
		e.Timings.Send = harMillis(x.Sent - x.Started)
	}
	if x.FirstByte > 0 {
		e.Timings.Wait, e.Timings.Receive = harMillis(max(0, x.FirstByte-x.Sent)), harMillis(x.Done-x.FirstByte)
	}
	if x.Response == nil {
		e.Comment = noAnswer(x)
	}
	return e
}

func harRequestOf(x *trace.Exchange) harRequest {
	r := harRequest{Method: x.Request.Method, URL: x.Request.URL, HTTPVersion: harVersion(x), Cookies: []harPair{}, Query: []harPair{},
		Headers: harHeaders(x.Request.Headers), HeadersSize: -1, BodySize: x.Request.Body.Size}
	if u, err := url.Parse(x.Request.URL); err == nil {
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			if name, value, _ := strings.Cut(pair, "="); name != "" {
				r.Query = append(r.Query, harPair{unescaped(name), unescaped(value)})
			}
		}
	}
	if b := x.Request.Body; b.Size > 0 {
		r.Body = &harBody{MimeType: headerOf(x.Request.Headers, "Content-Type"), Text: b.Text}
		if b.Base64 != nil {
			r.Body.Text, r.Body.Encoding = base64.StdEncoding.EncodeToString(b.Base64), "base64"
		}
	}
	return r
}

func harResponseOf(x *trace.Exchange) harResponse {
	r := harResponse{HTTPVersion: harVersion(x), Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: -1, BodySize: -1}
	if x.Response == nil {
		return r
	}
	b := x.Response.Body
	r.Status, r.BodySize = x.Response.Status, b.Size
	r.Headers, r.RedirectURL = harHeaders(x.Response.Headers), headerOf(x.Response.Headers, "Location")
	r.Content = harContent{Size: b.Size, MimeType: headerOf(x.Response.Headers, "Content-Type"), Text: b.Text}
	if b.Base64 != nil {
		r.Content.Text, r.Content.Encoding = base64.StdEncoding.EncodeToString(b.Base64), "base64"
	}
	if b.Truncated {
		r.Content.Comment = fmt.Sprintf("the beginning only; the SHA-256 of all is %s", b.SHA256)
	}
	return r
}

func harHeaders(hs []trace.Header) []harPair {
	out := make([]harPair, 0, len(hs))
	for _, h := range hs {
		out = append(out, harPair(h))
	}
	return out
}

// harVersion is the protocol without what carried it.
func harVersion(x *trace.Exchange) string {
	version, _, _ := strings.Cut(x.Protocol, " ")
	return orElse(version, "unknown")
}

func headerOf(hs []trace.Header, name string) string {
	for _, h := range hs {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

func unescaped(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

func harMillis(n trace.Nanos) float64 { return float64(n) / 1e6 }
