package imageref

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/mcpaudit/mcpaudit/api/imageindex"
)

// The errors of Resolve, by remedy.
var (
	// ErrInvalid: the reference cannot be parsed.
	ErrInvalid = errors.New("image reference is invalid")
	// ErrNotFound: the registry has no such image, or none for the platform.
	ErrNotFound = errors.New("image not found")
	// ErrUnauthorized: the registry wants other credentials.
	ErrUnauthorized = errors.New("registry refused access")
	// ErrUnreachable: the registry gave no usable answer, and may later.
	ErrUnreachable = errors.New("registry unreachable")
	// ErrAmbiguous: container runtimes could read the image in different ways.
	ErrAmbiguous = errors.New("image is ambiguous")
	// ErrBusy: the registry was not asked because too many requests are in flight. It says
	// nothing about the image; retry soon.
	ErrBusy = errors.New("too many questions to registries")
)

// failure is a failed request. Its text is for tenants and contains nothing that a registry
// sent: class, host and status code only. The cause is for the log.
type failure struct {
	class error
	text  string
	cause error
}

func (f *failure) Error() string   { return f.class.Error() + ": " + f.text }
func (f *failure) Unwrap() []error { return []error{f.class, f.cause} }

// classify converts a registry's error.
func classify(reference name.Reference, err error) error {
	registry := reference.Context().RegistryStr()
	fail := func(class error, format string, args ...any) error {
		return &failure{class, fmt.Sprintf(format, args...), err}
	}
	var answer *transport.Error
	switch {
	case errors.As(err, &answer):
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fail(ErrUnauthorized, "%s answered %d for %s", registry, answer.StatusCode, reference)
		case http.StatusNotFound:
			return fail(ErrNotFound, "%s has no %s", registry, reference)
		}
		return fail(ErrUnreachable, "%s answered %d for %s", registry, answer.StatusCode, reference)
	case errors.Is(err, imageindex.ErrNoPlatform):
		return fail(ErrNotFound, "%s is not for linux", reference)
	case errors.Is(err, imageindex.ErrAmbiguous):
		return fail(ErrAmbiguous, "%s: %s", reference, err) // written by us
	}
	return fail(ErrUnreachable, "%s: %s", registry, reason(err))
}

// reason describes why a registry gave no usable answer.
func reason(err error) string {
	var (
		refused     *refusal
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		network     net.Error
	)
	switch {
	case errors.As(err, &refused):
		return refused.why
	case errors.Is(err, errLarge):
		return fmt.Sprintf("an answer has more than %d bytes", maxBody)
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks no TLS"
	case errors.As(err, &name):
		return "its name does not resolve"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.As(err, &network) && network.Timeout():
		return "it did not answer in time"
	case errors.As(err, &network):
		return "the connection failed"
	}
	return "its answer is not a registry's"
}

// isSilence reports whether the registry did not answer at all. After any answer, such as an
// error about one repository, it may still serve others.
func isSilence(err error) bool {
	var (
		answer  *transport.Error
		refused *refusal
		network net.Error // connection errors and timeouts
	)
	if errors.As(err, &answer) || errors.As(err, &refused) || errors.Is(err, errLarge) {
		return false
	}
	return errors.Is(err, ErrUnreachable) && errors.As(err, &network)
}
