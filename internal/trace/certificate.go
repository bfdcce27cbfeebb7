package trace

import "strings"

// NoCertificate is how the Error of an exchange begins whose server asked for a client certificate, got none, and ended the
// connection without an answer.
const NoCertificate = "the server asks for a client certificate, and none was presented"

// LockedOut reports whether the server let nobody in who presents no certificate, and the exchange has no answer for that
// reason.
func (x *Exchange) LockedOut() bool {
	return !x.Complete() && strings.HasPrefix(x.Error, NoCertificate)
}
