package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"retrysafe/internal/trace"
)

// DoctorSchemaV1 names the format of a Doctor as JSON. It changes when a field changes its meaning or disappears.
const DoctorSchemaV1 = "retrysafe/doctor/v1"

// Doctor is what `retrysafe doctor` measured on the way to a server, and which race windows runs over it would see.
// Times are in microseconds.
type Doctor struct {
	// Schema is DoctorSchemaV1.
	Schema string `json:"schema"`
	// Method and URL are what was requested, Requests how often.
	Method   string `json:"method"`
	URL      string `json:"url"`
	Requests int    `json:"requests"`
	// Protocol is what was spoken, as in trace.Exchange.
	Protocol string `json:"protocol"`
	// Statuses are the status codes that came, each once, in the order of their first appearance.
	Statuses []int `json:"statuses"`
	// ConnectUS is the time until a request could be written on a new connection: name look-up, TCP or Unix socket,
	// proxy, TLS, settings of HTTP/2.
	ConnectUS trace.Quantiles `json:"connect_us"`
	// AnswerUS is the time from the first byte sent to the first byte of the answer, of requests sent alone.
	AnswerUS trace.Quantiles `json:"answer_us"`
	// Volleys sum up what was released together, by rising number of copies.
	Volleys []DoctorVolley `json:"volleys"`
	// Efforts say what is detectable, least effort first.
	Efforts []DoctorEffort `json:"efforts"`
	// Warnings say what makes it worse than it could be, and what to do; empty when nothing does.
	Warnings []string `json:"warnings,omitempty"`
}

// DoctorVolley sums up the volleys of one size. RTTUS and JitterUS are medians over the rounds of what trace.Burst
// says; 0 when nothing was measured.
type DoctorVolley struct {
	// Copies is how many requests each round was to release together, Connections the most that they went over.
	Copies      int             `json:"copies"`
	Rounds      int             `json:"rounds"`
	Connections int             `json:"connections"`
	Technique   string          `json:"technique"`
	SpreadUS    trace.Quantiles `json:"spread_us"`
	FirstGapUS  trace.Quantiles `json:"first_gap_us"`
	RTTUS       float64         `json:"rtt_us"`
	JitterUS    float64         `json:"jitter_us"`
}

// DoctorEffort says what an effort would see.
type DoctorEffort struct {
	Effort string `json:"effort"`
	// Schedule is how often how many copies are released, as "12 rounds of 5, 4 of 20".
	Schedule string `json:"schedule"`
	// DetectsWindowUS is the race window that would be seen with a probability of 99 %; 0 when none would.
	DetectsWindowUS float64 `json:"detects_window_us"`
}

// DoctorJSON writes the figures as JSON. The error is that of the writer.
func DoctorJSON(w io.Writer, d *Doctor) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// DoctorText writes the figures for people: what was measured, what it means, and what could be better. The error is
// that of the writer.
func DoctorText(w io.Writer, d *Doctor, o Options) error {
	p := newPrinter(o)
	p.para(0, p.bold, "doctor: "+d.Method+" "+d.URL)
	p.blank()
	p.para(0, p.bold, "Measured")
	p.doctorMeasured(d)
	p.blank()
	p.para(0, p.bold, "A run from here would see, with 99 %")
	for _, e := range d.Efforts {
		p.field(2, e.Effort, doctorWindow(e))
	}
	p.blank()
	p.para(0, p.dim, "A race window is the time between a check and the insert behind it, in which the server goes on with other requests.")
	for _, text := range d.Warnings {
		p.blank()
		p.hang(0, 2, p.warn, "! ", p.warn, text)
	}
	p.blank()
	p.para(0, p.dim, fmt.Sprintf("Sent %s, a method that is defined to change nothing (RFC 9110, section 9.2.1).",
		plural(d.Requests, d.Method+" request")))
	return p.flush(w)
}

func (p *printer) doctorMeasured(d *Doctor) {
	codes := make([]string, len(d.Statuses))
	for i, status := range d.Statuses {
		codes[i] = strconv.Itoa(status)
	}
	p.field(2, "protocol", d.Protocol)
	p.field(2, "status", strings.Join(codes, ", ")+" (any will do)")
	p.field(2, "connect", quantilesText(d.ConnectUS))
	p.field(2, "answer", quantilesText(d.AnswerUS))
	technique := ""
	for _, v := range d.Volleys {
		if v.Technique != technique {
			technique = v.Technique
			p.field(2, "release", technique)
		}
		p.field(2, fmt.Sprintf("%d copies", v.Copies), doctorVolley(v))
	}
}

// doctorVolley are the medians of a volley's figures.
func doctorVolley(v DoctorVolley) string {
	return fmt.Sprintf("spread %s, first gap %s, round trip %s, jitter %s (medians of %s over %s)",
		microsText(v.SpreadUS.P50), microsText(v.FirstGapUS.P50), microsText(v.RTTUS), microsText(v.JitterUS), plural(v.Rounds, "round"), plural(v.Connections, "connection"))
}

func doctorWindow(e DoctorEffort) string {
	if e.DetectsWindowUS == 0 {
		return "no race window"
	}
	return fmt.Sprintf("race windows of %s or more (%s)", microsText(e.DetectsWindowUS), e.Schedule)
}

func quantilesText(q trace.Quantiles) string {
	return fmt.Sprintf("median %s, p95 %s", microsText(q.P50), microsText(q.P95))
}

// microsText is a time in us in the unit that reads best.
func microsText(us float64) string {
	switch {
	case us == 0:
		return "0 us"
	case us < 10:
		return fmt.Sprintf("%.1f us", us)
	case us < 1e3:
		return fmt.Sprintf("%.0f us", us)
	case us < 1e6:
		return fmt.Sprintf("%.1f ms", us/1e3)
	}
	return fmt.Sprintf("%.1f s", us/1e6)
}
