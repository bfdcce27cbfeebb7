package report

import (
	"io"
	"strconv"

	"github.com/fatih/color"
	"golang.org/x/term"

	"retrysafe/internal/trace"
)

// UseColor decides whether text for w is coloured. The first that says something decides: flag (always or
// never; auto and empty say nothing), NO_COLOR when not empty (no-color.org), CLICOLOR_FORCE and FORCE_COLOR when not
// empty and not 0, CLICOLOR=0, TERM=dumb, and at last whether w is a terminal. env is os.Getenv.
func UseColor(flag string, w io.Writer, env func(string) string) bool {
	forced := func(name string) bool { return env(name) != "" && env(name) != "0" }
	switch {
	case flag == "always":
		return true
	case flag == "never", env("NO_COLOR") != "":
		return false
	case forced("CLICOLOR_FORCE"), forced("FORCE_COLOR"):
		return true
	case env("CLICOLOR") == "0", env("TERM") == "dumb":
		return false
	}
	return IsTerminal(w)
}

// IsTerminal reports whether w is a terminal, so that a line may be written over.
func IsTerminal(w io.Writer) bool {
	_, ok := terminal(w)
	return ok
}

// Width is the number of columns for text on w: COLUMNS when it is a positive number, else the size
// of the terminal, else DefaultWidth; never less than MinWidth. env is os.Getenv.
func Width(w io.Writer, env func(string) string) int {
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 {
		return max(n, MinWidth)
	}
	if fd, ok := terminal(w); ok {
		if n, _, err := term.GetSize(fd); err == nil && n > 0 {
			return max(n, MinWidth)
		}
	}
	return DefaultWidth
}

// terminal is the file descriptor of w when it is a terminal.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// palette holds the styles of one report. Styles are objects with a switch of their own, because the
// color package decides once for the whole process, by standard output.
type palette struct {
	plain, bold, dim, label, good, bad, warn *color.Color
}

func newPalette(on bool) palette {
	style := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		if on && len(attributes) > 0 {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return palette{
		plain: style(),
		bold:  style(color.Bold),
		dim:   style(color.Faint),
		label: style(color.FgCyan),
		good:  style(color.FgGreen),
		bad:   style(color.FgRed, color.Bold),
		warn:  style(color.FgYellow),
	}
}

// of is the style of a verdict.
func (p palette) of(v trace.Verdict) *color.Color {
	switch v {
	case trace.Pass:
		return p.good
	case trace.Fail, trace.Error:
		return p.bad
	case trace.Warn, trace.Inconclusive:
		return p.warn
	}
	return p.dim
}
