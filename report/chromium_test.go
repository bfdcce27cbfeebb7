package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a Chromium without a window, driven over a pipe by its DevTools protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	n       int
	session string
	// complaints are errors and messages of the console, and requests other than that for the page.
	complaints []string
	loaded     bool
}

// newBrowser starts the Chromium that RETRYSAFE_TEST_CHROMIUM names, with a profile of its own.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	binary := os.Getenv("RETRYSAFE_TEST_CHROMIUM")
	if binary == "" {
		t.Skip("RETRYSAFE_TEST_CHROMIUM is not set: it names the Chromium that opens the page")
	}
	theirIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	c := exec.Command(binary, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--no-first-run", "--hide-scrollbars", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	c.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirIn.Close()
	_ = theirOut.Close()
	kill := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.call("Browser.close", nil)
		_ = c.Wait()
		kill.Stop()
		_ = to.Close()
		_ = from.Close()
	})
	b.attach()
	return b
}

// attach takes the browser's only page.
func (b *browser) attach() {
	var targets struct {
		Infos []struct{ TargetID, Type string } `json:"targetInfos"`
	}
	b.decode(b.call("Target.getTargets", nil), &targets)
	for _, info := range targets.Infos {
		if info.Type == "page" {
			var attached struct{ SessionID string }
			b.decode(b.call("Target.attachToTarget", map[string]any{"targetId": info.TargetID, "flatten": true}), &attached)
			b.session = attached.SessionID
		}
	}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
}

func (b *browser) decode(text json.RawMessage, into any) {
	b.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.n++
	text, err := json.Marshal(map[string]any{"id": b.n, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" || params == nil {
		message := map[string]any{"id": b.n, "method": method}
		if params != nil {
			message["params"] = params
		}
		if b.session != "" && method != "Browser.close" {
			message["sessionId"] = b.session
		}
		text, err = json.Marshal(message)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		if m.ID != b.n {
			continue
		}
		if m.Error.Message != "" {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		return m.Result
	}
}

type browserMessage struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  struct{ Message string }
}

// next reads a message, and keeps what a page should not do.
func (b *browser) next() (m browserMessage) {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser ended: %v", err)
	}
	b.decode(bytes.TrimSuffix(text, []byte{0}), &m)
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded = true
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.complaints = append(b.complaints, fmt.Sprintf("%s %.600s", m.Method, m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		b.decode(m.Params, &p)
		if !strings.HasPrefix(p.Request.URL, "file://") {
			b.complaints = append(b.complaints, "requested "+p.Request.URL)
		}
	}
	return m
}

// open loads a file and waits until it is loaded. Hash is what follows # in the address.
func (b *browser) open(path, hash string) {
	b.t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	u := url.URL{Scheme: "file", Path: path}
	for _, address := range []string{"about:blank", u.String() + hash} { // another part of the same page would not be loaded
		b.loaded = false
		b.call("Page.navigate", map[string]any{"url": address})
		for !b.loaded {
			b.next()
		}
	}
	b.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
}

// screen sets the size of the window, and the scheme of colours.
func (b *browser) screen(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
}

// eval gives the value of an expression, promises awaited.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.decode(b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}), &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return r.Result.Value
}

// press presses a key, such as Tab or Enter.
func (b *browser) press(key string) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13}[key]
	text := map[string]string{"Enter": "\r"}[key]
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	if text != "" {
		down["text"] = text
	}
	b.call("Input.dispatchKeyEvent", down)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code})
}

// print gives the page as PDF.
func (b *browser) print() []byte {
	b.t.Helper()
	var r struct{ Data []byte }
	b.decode(b.call("Page.printToPDF", map[string]any{"preferCSSPageSize": true}), &r)
	return r.Data
}
