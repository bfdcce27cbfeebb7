package sink

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"

	"retrysafe/internal/trace"
)

// The bounds of a mail: what common servers take.
const (
	mostMail       = 25 << 20
	mostRecipients = 100
	mostLine       = 64 << 10
	mostSenders    = 64
	// mailsAtOnce is how many messages are in memory at the same time.
	mailsAtOnce = 4
	// mailTimeout bounds the time between two commands, and that of one message.
	mailTimeout = time.Minute
)

// mailServer takes every mail.
type mailServer struct {
	log *Log
	// limit is the largest message in bytes.
	limit int64
	slots chan struct{}
}

// serveMail takes mails on a listener until the returned function is called.
func serveMail(l net.Listener, to *Log, limit int64) (stop func()) {
	s := smtp.NewServer(&mailServer{log: to, limit: limit, slots: make(chan struct{}, mailsAtOnce)})
	s.Domain = "retrysafe.sink"
	s.MaxRecipients, s.MaxLineLength = mostRecipients, mostLine // the size is bounded here, so that a refusal is noted
	s.ReadTimeout, s.WriteTimeout = mailTimeout, mailTimeout
	s.AllowInsecureAuth = true // what a sender is configured with is taken, and not looked at
	s.EnableSMTPUTF8, s.EnableBINARYMIME = true, true
	s.ErrorLog = log.New(io.Discard, "", 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(netutil.LimitListener(l, mostSenders))
	}()
	return func() {
		_ = s.Close()
		_ = l.Close() // Close knows the listener only once Serve has begun
		<-done
	}
}

// NewSession implements smtp.Backend.
func (m *mailServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: m, conn: c}, nil
}

// session is one connection of a sender.
type session struct {
	server *mailServer
	conn   *smtp.Conn
	mail   trace.Mail
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain, sasl.Login} }

// Auth lets everybody in.
func (s *session) Auth(mech string) (sasl.Server, error) {
	if mech == sasl.Login {
		return &login{}, nil
	}
	return sasl.NewPlainServer(func(_, _, _ string) error { return nil }), nil
}

// login asks for a name and a password, and takes any (draft-murchison-sasl-login-00).
type login struct{ asked int }

// Next implements sasl.Server.
func (l *login) Next([]byte) (challenge []byte, done bool, err error) {
	l.asked++
	switch l.asked {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		return []byte("Password:"), false, nil
	}
	return nil, true, nil
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.mail = trace.Mail{} }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail = trace.Mail{From: from}
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = append(s.mail.To, to)
	return nil
}

// Data reads the message and keeps it.
func (s *session) Data(r io.Reader) error {
	s.server.slots <- struct{}{}
	defer func() { <-s.server.slots }()
	slow := time.AfterFunc(mailTimeout, func() { _ = s.conn.Conn().Close() })
	defer slow.Stop()
	message, err := readUpTo(r, s.server.limit)
	switch {
	case errors.Is(err, errTooLarge):
		s.server.log.lose(fmt.Sprintf("a mail is larger than %d bytes", s.server.limit))
		_, _ = io.Copy(io.Discard, r) // the sender listens only at the end, which slow bounds
		return &smtp.SMTPError{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 3, 4}, Message: "too large"}
	case err != nil:
		return err
	}
	mail := s.mail
	mail.Size = int64(len(message))
	texts := mailTexts(message, &mail)
	if err := s.server.log.add(trace.Arrival{Mail: &mail}, texts, nil); err != nil {
		return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 3, 1}, Message: err.Error()}
	}
	return nil
}
