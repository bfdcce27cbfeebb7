package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

func doctorFigures() *Doctor {
	return &Doctor{
		Schema: DoctorSchemaV1, Method: "HEAD", URL: "https://staging.example.com/orders?a=1&b=2", Requests: 135,
		Protocol: "HTTP/1.1 over TLS 1.3", Statuses: []int{405, 429},
		ConnectUS: trace.Quantiles{P50: 31200, P95: 48000}, AnswerUS: trace.Quantiles{P50: 12400, P95: 1.25e6},
		Volleys: []DoctorVolley{
			{Copies: 5, Rounds: 10, Connections: 5, Technique: "http/1.1 last byte over TLS", SpreadUS: trace.Quantiles{P50: 36}, FirstGapUS: trace.Quantiles{P50: 8.7}, RTTUS: 11900, JitterUS: 1400},
			{Copies: 20, Rounds: 4, Connections: 1, Technique: "http/2 whole requests in one write", RTTUS: 11800, JitterUS: 1200},
		},
		Efforts: []DoctorEffort{
			{Effort: "smoke", Schedule: "4 rounds of 5", DetectsWindowUS: 4100},
			{Effort: "standard", Schedule: "12 rounds of 5, 4 of 20", DetectsWindowUS: 640},
			{Effort: "deep", Schedule: "20 rounds of 5"},
		},
		Warnings: []string{"weaker than it could be: the server does not offer HTTP/2"},
	}
}

func TestDoctorGolden(t *testing.T) {
	tests := []struct {
		file   string
		opts   Options
		reason string
	}{
		{"doctor.txt", Options{}, "every line once"},
		{"doctor-40.txt", Options{Width: 40}, "a narrow terminal"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if err := DoctorText(&out, doctorFigures(), tt.opts); err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		golden(t, tt.file, out.Bytes())
		for line := range strings.SplitSeq(out.String(), "\n") {
			if got := twwidth.Width(line); tt.opts.Width > 0 && got > tt.opts.Width {
				t.Errorf("%s: a line of %d columns: %q", tt.reason, got, line)
			}
		}
	}
}

// A gateway's name and an error come from elsewhere.
func TestDoctorTextIsClean(t *testing.T) {
	d := doctorFigures()
	d.URL, d.Protocol, d.Warnings = hostile, hostile, []string{hostile}
	var out bytes.Buffer
	if err := DoctorText(&out, d, Options{}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(out.String(), "\x1b\r\b\a\x00"); i >= 0 {
		t.Errorf("a control character got through at %d:\n%q", i, out.String())
	}
}

func TestDoctorJSON(t *testing.T) {
	var out bytes.Buffer
	if err := DoctorJSON(&out, doctorFigures()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "a=1&b=2") {
		t.Error("the URL is escaped as if for HTML")
	}
	var back Doctor
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || !reflect.DeepEqual(&back, doctorFigures()) {
		t.Errorf("does not come back as it was: %v\n%s", err, out.String())
	}
}

func TestDoctorReturnsTheWritersError(t *testing.T) {
	if err := DoctorText(full{}, doctorFigures(), Options{}); !errors.Is(err, errFull) {
		t.Errorf("text: got %v, want %v", err, errFull)
	}
	if err := DoctorJSON(full{}, doctorFigures()); !errors.Is(err, errFull) {
		t.Errorf("JSON: got %v, want %v", err, errFull)
	}
}
