package trace

import (
	"slices"
	"strings"
)

// CarriesCredential reports whether a header or a parameter of a URL carries a credential, by its name: Authorization, X-Goog-Api-Key, Private-Token,
// X-Vault-Token, X-Amz-Security-Token, Ocp-Apim-Subscription-Key, session_id, X-Amz-Signature.
func CarriesCredential(name string) bool {
	return IsSecret(name) || endsIn(name, "authorization", "cookie", "token", "secret", "sessionid", "signature")
}

// IsSecret reports whether nobody may read a value, by its name: newPassword, client_secret, api-key. A bare "token" or "secret" is not among
// them: much that is made is called so.
func IsSecret(name string) bool {
	return endsIn(name, "password", "passwd", "passphrase", "passwordconfirmation", "clientsecret", "apikey", "accesskey", "authkey", "subscriptionkey",
		"secretkey", "privatekey", "accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken", "securitytoken")
}

// folded takes out of a name what is written in several ways.
var folded = strings.NewReplacer("-", "", "_", "", ".", "")

func endsIn(name string, endings ...string) bool {
	name = folded.Replace(strings.ToLower(name))
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) })
}
