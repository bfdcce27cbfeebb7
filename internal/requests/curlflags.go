package requests

// option is a flag of curl, and what it means for a plan.
type option struct {
	long  string
	short byte // 0 for none
	// value is true when it takes one.
	value bool
	does  effect
}

type effect int

const (
	// nothing: it says how curl behaves, or what it prints.
	nothing effect = iota
	// toRun: it says how requests travel, which flags of `retrysafe run` say.
	toRun
	setMethod
	addHeader
	addData
	addRawData
	addBinary
	addEncoded
	addJSON
	addField
	addFieldString
	addQuery
	setUser
	setBearer
	setCookie
	setHead
	setGet
	setURL
	setUpload
	setGlobOff
	setNext
	setSigned
	unfit // what no plan can say
)

// flags are those of curl 8 that people write down. What is not here is an error, not silence.
var flags = []option{
	{"request", 'X', true, setMethod}, {"header", 'H', true, addHeader}, {"data", 'd', true, addData}, {"data-ascii", 0, true, addData},
	{"data-raw", 0, true, addRawData}, {"data-binary", 0, true, addBinary}, {"data-urlencode", 0, true, addEncoded}, {"json", 0, true, addJSON},
	{"form", 'F', true, addField}, {"form-string", 0, true, addFieldString}, {"url-query", 0, true, addQuery}, {"user", 'u', true, setUser},
	{"oauth2-bearer", 0, true, setBearer}, {"cookie", 'b', true, setCookie}, {"head", 'I', false, setHead}, {"get", 'G', false, setGet},
	{"url", 0, true, setURL}, {"upload-file", 'T', true, setUpload}, {"globoff", 'g', false, setGlobOff}, {"next", ':', false, setNext},
	{"aws-sigv4", 0, true, setSigned}, {"digest", 0, false, setSigned}, {"ntlm", 0, false, setSigned}, {"negotiate", 0, false, setSigned}, {"anyauth", 0, false, setSigned},

	{"insecure", 'k', false, toRun}, {"cacert", 0, true, toRun}, {"capath", 0, true, toRun}, {"cert", 'E', true, toRun}, {"cert-type", 0, true, toRun},
	{"key", 0, true, toRun}, {"key-type", 0, true, toRun}, {"pass", 0, true, toRun}, {"proxy", 'x', true, toRun}, {"proxy-user", 'U', true, toRun},
	{"proxy-insecure", 0, false, toRun}, {"noproxy", 0, true, toRun}, {"socks5", 0, true, toRun}, {"socks5-hostname", 0, true, toRun}, {"preproxy", 0, true, toRun},
	{"resolve", 0, true, toRun}, {"connect-to", 0, true, toRun}, {"unix-socket", 0, true, toRun}, {"abstract-unix-socket", 0, true, toRun},
	{"max-time", 'm', true, toRun}, {"connect-timeout", 0, true, toRun}, {"interface", 0, true, toRun}, {"ciphers", 0, true, toRun},
	{"http1.0", '0', false, toRun}, {"http1.1", 0, false, toRun}, {"http2", 0, false, toRun}, {"http2-prior-knowledge", 0, false, toRun},
	{"http3", 0, false, toRun}, {"http3-only", 0, false, toRun}, {"tlsv1", '1', false, toRun}, {"tlsv1.0", 0, false, toRun}, {"tlsv1.1", 0, false, toRun},
	{"tlsv1.2", 0, false, toRun}, {"tlsv1.3", 0, false, toRun}, {"tls-max", 0, true, toRun}, {"ipv4", '4', false, toRun}, {"ipv6", '6', false, toRun},

	{"user-agent", 'A', true, nothing}, {"referer", 'e', true, nothing}, {"compressed", 0, false, nothing}, {"silent", 's', false, nothing},
	{"show-error", 'S', false, nothing}, {"location", 'L', false, nothing}, {"location-trusted", 0, false, nothing}, {"include", 'i', false, nothing},
	{"show-headers", 0, false, nothing}, {"verbose", 'v', false, nothing}, {"output", 'o', true, nothing}, {"output-dir", 0, true, nothing},
	{"remote-name", 'O', false, nothing}, {"remote-header-name", 'J', false, nothing}, {"write-out", 'w', true, nothing}, {"fail", 'f', false, nothing},
	{"fail-with-body", 0, false, nothing}, {"fail-early", 0, false, nothing}, {"no-buffer", 'N', false, nothing}, {"progress-bar", '#', false, nothing},
	{"no-progress-meter", 0, false, nothing}, {"dump-header", 'D', true, nothing}, {"cookie-jar", 'c', true, nothing}, {"junk-session-cookies", 'j', false, nothing},
	{"retry", 0, true, nothing}, {"retry-delay", 0, true, nothing}, {"retry-max-time", 0, true, nothing}, {"retry-all-errors", 0, false, nothing},
	{"retry-connrefused", 0, false, nothing}, {"max-redirs", 0, true, nothing}, {"post301", 0, false, nothing}, {"post302", 0, false, nothing},
	{"post303", 0, false, nothing}, {"basic", 0, false, nothing}, {"create-dirs", 0, false, nothing}, {"keepalive-time", 0, true, nothing}, {"no-keepalive", 0, false, nothing},
	{"no-sessionid", 0, false, nothing}, {"no-alpn", 0, false, nothing}, {"path-as-is", 0, false, nothing}, {"parallel", 'Z', false, nothing},
	{"parallel-max", 0, true, nothing}, {"parallel-immediate", 0, false, nothing}, {"limit-rate", 0, true, nothing}, {"speed-limit", 'Y', true, nothing},
	{"speed-time", 'y', true, nothing}, {"stderr", 0, true, nothing}, {"trace", 0, true, nothing}, {"trace-ascii", 0, true, nothing}, {"trace-time", 0, false, nothing},
	{"tcp-nodelay", 0, false, nothing}, {"tr-encoding", 0, false, nothing}, {"raw", 0, false, nothing}, {"styled-output", 0, false, nothing},
	{"expect100-timeout", 0, true, nothing}, {"disable", 'q', false, nothing}, {"netrc-optional", 0, false, nothing}, {"ssl-no-revoke", 0, false, nothing},
	{"proto", 0, true, nothing}, {"proto-default", 0, true, nothing}, {"proto-redir", 0, true, nothing}, {"max-filesize", 0, true, nothing}, {"remote-time", 'R', false, nothing},

	{"config", 'K', true, unfit}, {"variable", 0, true, unfit}, {"netrc", 'n', false, unfit}, {"netrc-file", 0, true, unfit}, {"range", 'r', true, unfit},
	{"quote", 'Q', true, unfit}, {"request-target", 0, true, unfit}, {"crlf", 0, false, unfit}, {"continue-at", 'C', true, unfit}, {"time-cond", 'z', true, unfit},
}

func longNames() []string {
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = "--" + f.long
	}
	return names
}

func findLong(name string) *option {
	for i := range flags {
		if flags[i].long == name {
			return &flags[i]
		}
	}
	return nil
}

func findShort(c byte) *option {
	for i := range flags {
		if flags[i].short == c && c != 0 {
			return &flags[i]
		}
	}
	return nil
}
