package judge

import (
	"slices"
	"strings"
	"unicode"

	"retrysafe/internal/trace"
)

// saysSuccess reports whether an answer's status says success: 2xx, and what the plan names beside it. A redirect counts only
// where it points to a place like those of the control: any other may ask who is there, or show a form again.
func saysSuccess(f trace.Facts, l trace.Learned, x *trace.Exchange) bool {
	if x.Response.Status/100 == 2 || !redirectsOnSuccess(f, x) {
		return x.Response.Status/100 == 2
	}
	place, pattern := location(x), l.Redirect
	if x.OtherEndpoint {
		pattern = "" // it creates elsewhere
	}
	return place == "" && pattern != "" || place != "" && likePlace(pattern, place) && !asksWho(x)
}

// redirectsOnSuccess reports whether the plan names the status of a redirect as one of success, at the endpoint it was sent to.
func redirectsOnSuccess(f trace.Facts, x *trace.Exchange) bool {
	if x.OtherEndpoint {
		return slices.Contains(f.OtherSuccessStatuses, x.Response.Status)
	}
	return slices.Contains(f.SuccessStatuses, x.Response.Status)
}

// asksWho reports whether an answer redirects to what looks like a log-in.
func asksWho(x *trace.Exchange) bool {
	if x.Response == nil || x.Response.Status/100 != 3 {
		return false
	}
	asked := placeParts(x.Request.URL)
	return slices.ContainsFunc(placeParts(firstHeader(x.Response.Headers, "Location")), func(part string) bool {
		plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(part))
		return slices.Contains([]string{"login", "signin", "sso", "auth", "oauth", "oauth2", "authorize"}, plain) && !slices.Contains(asked, part)
	})
}

// placeOf is a Location of which two answers to two creations are cases, with * for what differs; empty when they are
// built differently.
func placeOf(a, b string) string {
	pa, pb := placeParts(a), placeParts(b)
	if len(pa) != len(pb) {
		return ""
	}
	for i := range pa {
		if pa[i] != pb[i] {
			pa[i] = "*"
		}
	}
	return strings.Join(pa, "")
}

// likePlace reports whether a Location is a case of what placeOf gave; anything is where that is empty.
func likePlace(pattern, place string) bool {
	want, got := placeParts(pattern), placeParts(place)
	return pattern == "" || slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w == "*" })
}

// placeParts cuts a URL into words and the characters between them.
func placeParts(place string) []string {
	var out []string
	word := ""
	for _, r := range place {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.~%*", r) {
			word += string(r)
			continue
		}
		if word != "" {
			out = append(out, word)
		}
		out, word = append(out, string(r)), ""
	}
	if word != "" {
		out = append(out, word)
	}
	return out
}
