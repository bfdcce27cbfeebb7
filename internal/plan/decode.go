package plan

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// decoder turns the document of a plan file into a Plan.
type decoder struct {
	doc  *strict.Document
	plan *Plan
	// files are where the plan's files are, own the `defaults` of included files that hold for their endpoints alone.
	files Files
	own   map[string]strict.Value
	over  Overrides

	base        strict.Object            // `defaults` of the plan
	ownBase     map[string]strict.Object // `defaults` of files with endpoints, by file
	vars        *vars                    // of callers
	captures    []string                 // of all set-ups, which counters may use
	targetWidth int
	public      []string // variables whose values are shown: those of target, allow_hosts and files of SQLite
	listed      []string // of `secrets`
	replicas    []strict.Text
	others      []strict.Text // the `other_endpoint` of each endpoint
	listening   []strict.Text // the addresses of sinks
	allowed     []strict.Text // of `allow_hosts`
	risksNoted  strict.Errors
}

// Fields are the names of a plan's fields at its top level.
func Fields() []string {
	return []string{"version", "include", "target", "replicas", "allow_hosts", "firing", "dialect", "defaults", "callers", "counters",
		"sinks", "states", "hooks", "limits", "endpoints", "scenarios", "secrets"}
}

func (d *decoder) decode() {
	root := d.doc.Root()
	o := root.Object(Fields()...)
	checkVersion(o.Require("version"))
	d.target(o.Get("target"))
	d.replicaList(o.Get("replicas"))
	d.allowHosts(o.Get("allow_hosts"))
	d.plan.Dialect = d.dialect(o.Get("dialect"))
	d.vars = &vars{}
	d.plan.Callers = d.callers(o.Get("callers"))
	d.defaults(o.Get("defaults"))
	d.captures = allCaptures(o.Get("endpoints"))
	d.plan.Counters = d.counters(o.Get("counters"))
	d.sinks(o.Get("sinks"))
	d.plan.States = d.states(o.Get("states"))
	d.plan.Hooks = d.hooks(o.Get("hooks"))
	d.plan.Limits = limits(o.Get("limits"))
	if f := o.Get("firing"); f.Present() {
		d.plan.Firing = f.Enum("auto", "h2", "h1", "barrier")
	}
	d.endpoints(o.Require("endpoints"))
	d.missingVars()
	d.unused()
	d.plan.Scenarios = d.scenarios(o.Get("scenarios"))
	d.secretList(o.Get("secrets"))
}

func checkVersion(v strict.Value) {
	if v.Present() && (v.Kind() != strict.Number || v.Scalar().Value != "1") {
		v.Expected("version 1, the only one that there is")
	}
}

func (d *decoder) target(v strict.Value) {
	t := v.Text()
	d.plan.Target = strings.TrimRight(t.Value, "/")
	d.plan.targetPos, d.plan.targetSet = v.Pos(), v.Present()
	if v.Unset() {
		d.plan.Target = ""
	}
	d.targetWidth = len([]rune(t.Source()))
	d.public = append(d.public, v.Variables()...)
	if v.Kind() == strict.String && d.plan.Target == "" {
		v.Errorf("expected a base URL such as http://127.0.0.1:8080, found %s", t.Show())
	}
}

// replicaList reads base URLs of instances; completion checks them once all allowed hosts are known. Their variables
// are shown like the target's.
func (d *decoder) replicaList(v strict.Value) {
	d.public = append(d.public, v.Variables()...)
	if v.Kind() == strict.List && len(v.List()) == 0 {
		v.Errorf("expected base URLs of instances such as [http://127.0.0.1:8081], found an empty list")
	}
	if v.Kind() == strict.List && len(v.List()) == 1 {
		d.doc.Warnf(v.Pos(), 1, "one instance shows nothing that target does not: name at least two")
	}
	for _, t := range v.Texts() {
		url := strings.TrimRight(t.Value, "/")
		if slices.Contains(d.plan.Replicas, url) {
			t.Errorf(0, len([]rune(t.Source())), "duplicate replica %s: remove one, two names of one instance prove nothing", t.Show())
			continue
		}
		d.plan.Replicas = append(d.plan.Replicas, url)
		d.replicas = append(d.replicas, t)
	}
}

func (d *decoder) allowHosts(v strict.Value) {
	d.public = append(d.public, v.Variables()...)
	for _, t := range v.Texts() {
		if _, _, err := splitHost(t.Value); err != nil {
			t.Errorf(0, len([]rune(t.Value)), "expected a host such as staging.example.com or staging.example.com:8443, found %s: without scheme, path and wildcard", t.Show())
			continue
		}
		d.plan.AllowHosts = append(d.plan.AllowHosts, t.Value)
		d.allowed = append(d.allowed, t)
	}
}

func (d *decoder) dialect(v strict.Value) dialect.Dialect {
	name := "any"
	if v.Present() {
		name = v.Text().Value
	}
	if d.over.Dialect != "" {
		found, _ := dialect.Find(d.over.Dialect)
		return found
	}
	found, ok := dialect.Find(name)
	if !ok {
		known := dialect.Names()
		v.Errorf("unknown dialect %s%s (known: %s)", v.Text().Show(), strict.DidYouMean(name, known), strings.Join(known, ", "))
	}
	return found
}

// checkName notes a name that could not be written on a command line or in a placeholder.
func checkName(t strict.Text) bool {
	if isName(t.Value) {
		return true
	}
	t.Errorf(0, len([]rune(t.Value)), "expected a name of letters, digits, _ and -, found %s", t.Show())
	return false
}

func isName(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func (d *decoder) counters(v strict.Value) map[string]Counter {
	counters := map[string]Counter{}
	for _, e := range v.Entries() {
		checkName(e.Key)
		counters[e.Key.Value] = d.counter(e)
	}
	return counters
}

func (d *decoder) counter(e strict.Entry) Counter {
	o := e.Value.Object("http", "exec", "sql", "value", "header", "length", "caller", "headers")
	c := Counter{Pos: e.Key.Pos(), Name: e.Key.Value}
	allowed := names{captures: d.captures, vars: d.vars}
	switch o.OneOf("way to count", "http", "exec", "sql") {
	case "http":
		c.HTTP = d.httpCounter(o, allowed)
	case "exec":
		c.Exec = d.command(o.Get("exec"), allowed)
		onlyForHTTP(o, "a command prints the number")
	case "sql":
		c.SQL = d.sql(o.Get("sql"), allowed, true)
		onlyForHTTP(o, "a query gives the number")
	}
	c.Marked = slices.ContainsFunc(c.templates(), Template.marked)
	return c
}

// onlyForHTTP notes fields that say how a number is read from an answer, in a counter without one.
func onlyForHTTP(o strict.Object, because string) {
	for _, field := range []string{"value", "header", "length", "caller", "headers"} {
		o.Get(field).Errorf("%s belongs to a counter with `http:`, %s: remove it", field, because)
	}
}

func (d *decoder) httpCounter(o strict.Object, allowed names) *HTTPCounter {
	h := &HTTPCounter{Request: d.get(o.Get("http"), allowed, "a counter", "counting must change nothing")}
	switch o.OneOf("place of the number", "value", "header", "length") {
	case "value":
		h.Value = jsonPath(o.Get("value"))
	case "length":
		h.Length = jsonPath(o.Get("length"))
	case "header":
		h.Header = headerName(o.Get("header"))
	}
	h.Caller = d.caller(o.Get("caller"))
	h.Headers = parseHeaders(o.Get("headers"), allowed)
	return h
}

func (d *decoder) caller(v strict.Value) string {
	t := v.Text()
	known := make([]string, len(d.plan.Callers))
	for i, c := range d.plan.Callers {
		known[i] = c.Name
	}
	if t.Value != "" && !slices.Contains(known, t.Value) {
		v.Errorf("unknown caller %s%s (declare it under `callers`)", t.Show(), strict.DidYouMean(t.Value, known))
	}
	return t.Value
}

// request reads a request; an empty one is noted.
func (d *decoder) request(v strict.Value, allowed names) RequestTemplate {
	if v.Kind() != strict.String {
		v.Text()
		return RequestTemplate{}
	}
	return parseRequest(v.Text(), allowed)
}

// get is request for one that must be a GET; what and why end the message otherwise.
func (d *decoder) get(v strict.Value, allowed names, what, why string) RequestTemplate {
	r := d.request(v, allowed)
	if r.Method != "" && r.Method != "GET" {
		v.Errorf("expected GET for %s, found %s: %s", what, r.Method, why)
	}
	return r
}

// command reads a list of program and arguments. A text is refused: it would need a shell to be cut into arguments.
func (d *decoder) command(v strict.Value, allowed names) []Template {
	if v.Kind() == strict.String {
		v.Errorf(`expected a list of program and arguments, found %s: write [program, "argument"]; no shell is involved`, v.Text().Show())
		return nil
	}
	var command []Template
	for _, item := range v.List() {
		command = append(command, parseTemplate(item.Scalar(), allowed))
	}
	if v.Kind() == strict.List && (len(command) == 0 || command[0].Empty()) {
		v.Errorf("expected a program and its arguments, found an empty list")
	}
	if len(command) > 0 && len(command[0].Placeholders()) > 0 {
		v.Errorf("expected the program's name first, found placeholders in it: pass them as arguments")
	}
	return command
}

func limits(v strict.Value) Limits {
	o := v.Object("in_progress", "request", "count", "await", "wait", "ready", "body")
	return Limits{
		InProgress: o.Get("in_progress").Duration(),
		Request:    o.Get("request").Duration(),
		Count:      o.Get("count").Duration(),
		Await:      o.Get("await").Duration(),
		Wait:       o.Get("wait").Duration(),
		Ready:      o.Get("ready").Duration(),
		Body:       o.Get("body").Size(),
	}
}

// scenarios are the plan's own files, patterns expanded; the order of the plan, within a pattern that of the names.
func (d *decoder) scenarios(v strict.Value) []string {
	var files []string
	for _, t := range v.Texts() {
		found, err := d.files.Glob(beside(t))
		if err != nil || len(found) == 0 {
			t.Errorf(0, len([]rune(t.Source())), "no scenario file matches %s: paths start at the plan's folder", t.Show())
		}
		for _, f := range found {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// largestFile bounds the body of a `file:`; a larger one would be held in memory for every copy of a burst.
const largestFile = 16 << 20

func (d *decoder) file(v strict.Value) []byte {
	t := v.Text()
	if t.Value == "" {
		return nil
	}
	content, err := d.files.Read(beside(t), largestFile)
	switch {
	case errors.Is(err, errOtherFile):
		v.Errorf("expected a regular file of at most 16 MiB, found something else at %s", t.Show())
	case errors.Is(err, fs.ErrPermission):
		v.Errorf("cannot read the body's file %s: check its permissions", t.Show())
	case err != nil:
		v.Errorf("cannot read the body's file %s: paths start at the plan's folder", t.Show())
	}
	return content
}

// keyPath reads the path of the key's member in the body; empty after noting a mistake.
func keyPath(v strict.Value) string {
	path := jsonPath(v)
	if path == "" {
		return ""
	}
	if _, err := memberPath(path); err != nil {
		v.Errorf("%v", err)
		return ""
	}
	return path
}

// asHeader ends the message about a key that is only a name.
func asHeader(name string) string {
	if !isToken(name) {
		return ""
	}
	return ": write {header: " + name + "}"
}

// keyPlace reads a `key`; set is false when it is absent.
func (d *decoder) keyPlace(v strict.Value) (place trace.KeyPlace, set bool) {
	if !v.Present() {
		return trace.KeyPlace{}, false
	}
	if v.Kind() == strict.String {
		if t := v.Text(); t.Value != "none" {
			v.Errorf("expected {header: NAME}, {json: PATH}, {query: NAME} or none, found %s%s", t.Show(), asHeader(t.Value))
		}
		return trace.KeyPlace{}, true
	}
	o := v.Object("header", "json", "query", "format")
	place.In = o.OneOf("place of the key", "header", "json", "query")
	field := o.Get(place.In)
	place.Name = field.Text().Value
	place.Format = o.Get("format").Enum("bare", "sf-string")
	switch {
	case place.Name == "" && field.Kind() == strict.String:
		field.Errorf("expected a name, found nothing")
	case place.In == "header" && place.Name != "" && !isToken(place.Name):
		field.Errorf("expected the name of a header, found %s", field.Text().Show())
	case place.In == "json" && place.Name != "":
		place.Name = keyPath(field)
	}
	if place.Format == "sf-string" && place.In != "header" {
		o.Get("format").Errorf("format sf-string belongs to a key in a header: remove it")
	}
	return place, true
}
