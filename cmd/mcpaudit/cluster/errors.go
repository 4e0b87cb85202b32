package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errAbsent means that an object does not exist.
var errAbsent = errors.New("absent")

// kind is the plural of a kind in errors.
type kind string

const (
	anAudit kind = "MCPServerAudit"
	aReport kind = "MCPAuditReport"
	aPod    kind = "Pod"
	aLog    kind = "log"
)

// explanation is an API error with its fix.
type explanation struct {
	text  string
	cause error
}

func (e explanation) Error() string { return e.text }
func (e explanation) Unwrap() error { return e.cause }

// explain adds the fix to an API error.
func (a *api) explain(err error, of kind, name string) error {
	because := func(cause error, format string, args ...any) error {
		return explanation{text: fmt.Sprintf(format, args...), cause: cause}
	}
	var status apierrors.APIStatus
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case unknownKind(err):
		return because(err, "the cluster has no %ss: install the operator (make deploy), or choose another --context", of)
	case apierrors.IsNotFound(err) && of == anAudit:
		return because(errAbsent, "no %s %s in namespace %s; %s list -A lists all namespaces", of, name, a.namespace, a.name)
	case apierrors.IsNotFound(err):
		return because(errAbsent, "no %s %s in namespace %s", of, name, a.namespace)
	case apierrors.IsAlreadyExists(err):
		return because(err, "%s %s already exists in namespace %s: choose another --name, or see %s show %s", of, name, a.namespace, a.name, name)
	case apierrors.IsForbidden(err):
		return because(err, "%s: %s", sentence(err), grant(of))
	case apierrors.IsUnauthorized(err):
		return because(err, "the cluster rejected the credentials of the kubeconfig: log in again, or choose another --context")
	case errors.As(err, &network):
		return because(err, "%s does not answer (%s): check --context", a.host, network.Err)
	case errors.As(err, &status):
		return because(err, "%s", sentence(err))
	}
	return err
}

// unknownKind reports whether the CRD is missing, not just an object: for unknown paths the API
// server returns no Status.
func unknownKind(err error) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	_, generic := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return generic
}

// sentence returns the API server's message without repeating the resource.
func sentence(err error) string {
	text := strings.TrimSuffix(err.Error(), ".")
	if _, rest, ok := strings.Cut(text, " is forbidden: "); ok {
		return "forbidden: " + rest
	}
	return text
}

// grant names the role with the permission.
func grant(of kind) string {
	switch of {
	case aPod, aLog:
		return "ask for get and list of pods, and get of pods/log, in the namespace of the audit Pods"
	case aReport:
		return "ask for the ClusterRole view, or mcpaudit-viewer, in that namespace"
	}
	return "ask for the ClusterRole view (edit, to change something) in that namespace"
}
