package plan

import (
	"maps"
	"net/url"
	"slices"
)

// Origins are what the plan's requests go to, each once, such as https://staging.example.com:8443: that of the target, of the replicas,
// and of whole URLs in the order of the alphabet. What answers name, such as where to ask for work, is not known before.
func (p *Plan) Origins() []string {
	var found []string
	add := func(rawURL string) {
		u, err := url.Parse(rawURL)
		if err != nil || u.Host == "" {
			return
		}
		if origin := u.Scheme + "://" + u.Host; !slices.Contains(found, origin) {
			found = append(found, origin)
		}
	}
	for _, base := range append([]string{p.Target}, p.Replicas...) {
		add(base)
	}
	whole := map[string]bool{}
	for _, r := range p.requests() {
		if r.absolute() {
			whole[r.URL("", placeholderX{})] = true
		}
	}
	for _, rawURL := range slices.Sorted(maps.Keys(whole)) {
		add(rawURL)
	}
	return found
}
