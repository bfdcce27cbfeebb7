package draft

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// Operation is what a request does, whatever the values in its path are: by it an endpoint of a plan is known again in a source.
type Operation struct {
	// Method is in capital letters.
	Method string
	// Host is that of an absolute URL, in small letters; empty for a path behind the target.
	Host string
	// Path starts with "/"; every parameter, placeholder and variable in it is "{}". It has no query, and no slash at its end.
	Path string
}

// String is the operation as people write it, such as "POST /orders/{}/refunds".
func (o Operation) String() string {
	if o.Host != "" {
		return o.Method + " //" + o.Host + o.Path
	}
	return o.Method + " " + o.Path
}

// parameter is what stands in a path for any value: {{capture}}, ${VARIABLE}, {parameter}, :parameter.
var parameter = regexp.MustCompile(`\{\{[^{}]*\}\}|\$+\{[^{}]*\}|\{[^{}]*\}|(/):[A-Za-z_][A-Za-z0-9_]*`)

// ParseOperation reads a request such as "POST /orders/{{order}}/refunds?notify=true", or one with an absolute URL.
func ParseOperation(request string) Operation {
	method, target, _ := strings.Cut(strings.TrimSpace(request), " ")
	o := Operation{Method: strings.ToUpper(method)}
	target = parameter.ReplaceAllString(strings.TrimSpace(target), "${1}{}")
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if scheme, rest, absolute := strings.Cut(target, "://"); absolute && !strings.Contains(scheme, "/") {
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			rest, slash = rest+"/", len(rest)
		}
		o.Host, target = strings.ToLower(rest[:slash]), rest[slash:]
	} else if rest, behind := strings.CutPrefix(target, "{}/"); behind { // ${BASE_URL}/orders
		target = "/" + rest
	}
	o.Path = "/" + strings.Trim(target, "/")
	return o
}

// Under is the operation with a base path such as "/v1" in front.
func (o Operation) Under(base string) Operation {
	if base = strings.Trim(parameter.ReplaceAllString(base, "${1}{}"), "/"); base != "" {
		o.Path = strings.TrimRight("/"+base+o.Path, "/")
	}
	return o
}

// Covers is true when a request that is meant by the other operation is one of this operation: where this one has a parameter the other
// may have a value, as /orders/{} covers /orders/17.
func (o Operation) Covers(other Operation) bool {
	return o.Method == other.Method && o.Host == other.Host && likeSegments(o.Path, other.Path, func(mine, theirs string) bool {
		return mine == theirs || strings.Contains(mine, "{}") && likeSegment(mine, theirs)
	})
}

// resembles is Covers in either direction; what a source has as a value, in place of a parameter of the plan, must have a digit as ids have.
func (o Operation) resembles(source Operation) bool {
	return o.Method == source.Method && o.Host == source.Host && likeSegments(o.Path, source.Path, func(plan, source string) bool {
		switch {
		case plan == source:
			return true
		case strings.Contains(source, "{}"):
			return likeSegment(source, plan)
		}
		return strings.Contains(plan, "{}") && strings.ContainsAny(source, "0123456789") && likeSegment(plan, source)
	})
}

func likeSegments(a, b string, like func(a, b string) bool) bool {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	return slices.EqualFunc(as, bs, like)
}

// likeSegment is true for a segment of a path that a segment with parameters stands for.
func likeSegment(pattern, segment string) bool {
	parts := strings.Split(pattern, "{}")
	for i, part := range parts {
		at := strings.Index(segment, part)
		switch {
		case i == 0 && at != 0, i == len(parts)-1 && !strings.HasSuffix(segment, part), at < 0:
			return false
		}
		if i < len(parts)-1 || part != "" {
			segment = segment[at+len(part):]
		}
	}
	return true
}

// Parameters is how many segments of the path have a parameter: of two operations that cover a request the one with fewer is meant.
func (o Operation) Parameters() int { return strings.Count(o.Path, "{}") }

// Stated is an endpoint of a plan as far as it can be read without its variables.
type Stated struct {
	Name, Request string
	Operation     Operation
	Pos           strict.Pos // of the endpoint
}

// ReadStated reads the endpoints of a plan and of the files that it includes without checking the rest, and the path of the plan's target,
// without a slash at its end: what stands in ${VARIABLES} is not known, but their defaults are. Mistakes in the YAML are returned as
// strict.Errors.
func ReadStated(file string, plan []byte, included ...File) (endpoints []Stated, basePath string, err error) {
	o, err := readOutline(file, plan, included)
	if err != nil {
		return nil, "", err
	}
	return o.endpoints(), TargetPath(o.target()), nil
}

// TargetPath is the path of a base URL as a plan has it, without a slash at its end: variables have their defaults. Empty for one without.
func TargetPath(target string) string {
	u, err := url.Parse(withDefaults(target))
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

// withDefaults is a text in which the variables have their defaults; a leading one without any is a host.
func withDefaults(s string) string {
	return variablesIn.ReplaceAllStringFunc(s, func(v string) string {
		if _, fallback, ok := strings.Cut(strings.Trim(v, "${}"), ":-"); ok {
			return fallback
		}
		return ""
	})
}

var variablesIn = regexp.MustCompile(`\$\{[^{}]*\}`)
