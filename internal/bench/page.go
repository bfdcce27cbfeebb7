package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

const (
	pageEndpoints = 1000
	pageViews     = 5
	// mostPage is how large the page may be in MB, mostView how many milliseconds its first view may take.
	mostPage = 20
	mostView = 2000
)

// pageTable makes the HTML report of a large run, whose endpoints are those of the sample plan again and again, opens it in Chromium,
// and complains when it is too large or too slow.
func pageTable(out io.Writer, bin string) error {
	dir, err := os.MkdirTemp("", "retrysafe-page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run, err := largeRun(bin, dir)
	if err != nil {
		return err
	}
	rules, err := scenarios.Rules()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	start := time.Now()
	if err := report.HTML(&page, run, report.Options{Rules: rules}); err != nil {
		return err
	}
	took, size := time.Since(start), float64(page.Len())/1e6
	var views []float64
	for range pageViews {
		view, err := firstView(dir, page.Bytes())
		if err != nil {
			return err
		}
		views = append(views, view)
	}
	median := quantile(views, .5)
	fmt.Fprintf(out, "%9s %10s %8s %14s  %s\n", "endpoints", "written s", "page MB", "first view ms", "each")
	fmt.Fprintf(out, "%9d %10.1f %8.1f %14.0f  %.0f\n", len(run.Endpoints), took.Seconds(), size, median, views)
	switch {
	case size > mostPage:
		return fmt.Errorf("expected a page of at most %d MB, found %.1f", mostPage, size)
	case median > mostView:
		return fmt.Errorf("expected a first view within %d ms, found %.0f", mostView, median)
	}
	return nil
}

// largeRun runs the sample plan against a shop with the fault, and repeats its endpoints.
func largeRun(bin, dir string) (*trace.Run, error) {
	shop, err := start(bin, "--fault", "check-then-insert")
	if err != nil {
		return nil, err
	}
	defer shop.stop()
	document := filepath.Join(dir, "out.json")
	c := exec.Command(bin, "run", "fixtures/plans/shop.yaml", "-q", "--report", "json="+document)
	c.Env = append(os.Environ(), "RETRYSAFE_TARGET="+shop.url)
	said, ended := c.CombinedOutput()
	f, err := os.Open(document)
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %s", err, ended, said)
	}
	defer f.Close()
	run, err := report.ReadRun(f)
	if err != nil {
		return nil, err
	}
	few := run.Endpoints
	run.Endpoints = nil
	for i := range pageEndpoints {
		ep := few[i%len(few)].Brief(true)
		ep.Name = fmt.Sprintf("%s %04d", ep.Name, i+1)
		run.Endpoints = append(run.Endpoints, ep)
	}
	return run, nil
}

var (
	policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	shown  = regexp.MustCompile(`data-shown="([0-9.]+)"`)
)

// firstView opens the page in a Chromium with an empty profile, and gives the milliseconds from the beginning of its loading until
// everything is laid out, which a script writes into it. The page's policy would not let that script run.
func firstView(dir string, page []byte) (float64, error) {
	const clock = `<script>addEventListener("load", () => { document.body.offsetHeight; document.body.dataset.shown = performance.now(); });</script>`
	timed := policy.ReplaceAll(page, []byte(clock))
	path, profile := filepath.Join(dir, "page.html"), filepath.Join(dir, "profile")
	if err := os.WriteFile(path, timed, 0o600); err != nil {
		return 0, err
	}
	defer os.RemoveAll(profile)
	c := exec.Command(cmp.Or(os.Getenv("RETRYSAFE_TEST_CHROMIUM"), "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-first-run", "--window-size=1280,1000", "--user-data-dir="+profile, "--dump-dom", "file://"+path)
	dump, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("chromium (RETRYSAFE_TEST_CHROMIUM names another one): %w", err)
	}
	found := shown.FindSubmatch(dump)
	if found == nil {
		return 0, fmt.Errorf("the page did not load: %.200s", dump)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
