package gate

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxTerm bounds the validity of an exception, from its creation.
const maxTerm = 366 * 24 * time.Hour

// ReadException reads an MCPAuditException. An error means that it never counts: it is valid
// for more than a year, or what it excepts is unclear. Expiry is not an error.
func ReadException(exception *v1alpha1.MCPAuditException) (*Exception, error) {
	spec := exception.Spec
	if term := spec.ExpiresAt.Sub(exception.CreationTimestamp.Time); term > maxTerm {
		return nil, fmt.Errorf("spec.expiresAt: %s is more than a year after the exception was created", spec.ExpiresAt.UTC().Format(time.RFC3339))
	}
	read := &Exception{
		NamespacedName: types.NamespacedName{Namespace: exception.Namespace, Name: exception.Name},
		Policy:         spec.PolicyRef, Expires: spec.ExpiresAt.Time, Ticket: spec.Ticket,
	}
	if spec.Images == nil && spec.ObjectSelector == nil {
		return nil, errors.New("spec: neither images nor objectSelector say what is excepted")
	}
	if spec.ObjectSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(spec.ObjectSelector)
		if err != nil {
			return nil, fmt.Errorf("spec.objectSelector: %w", err)
		}
		read.objects = selector
	}
	if spec.Images != nil {
		read.Images = map[v1alpha1.Digest]bool{}
		for _, digest := range spec.Images {
			read.Images[digest] = true
		}
	}
	return read, nil
}

// exceptions has the exceptions for a subject and a policy.
type exceptions struct {
	any     *Exception
	byImage map[v1alpha1.Digest]*Exception
}

// exceptionsFor groups the exceptions for a subject by policy. Policies that ignore them are
// handled later.
func exceptionsFor(subject Subject, facts Facts) map[v1alpha1.PolicyReference]*exceptions {
	sorted := map[v1alpha1.PolicyReference]*exceptions{}
	for _, e := range facts.Exceptions {
		if e.Namespace != subject.Namespace || !facts.Now.Before(e.Expires) || !matchesObject(e.objects, subject) {
			continue
		}
		of := sorted[e.Policy]
		if of == nil {
			of = &exceptions{byImage: map[v1alpha1.Digest]*Exception{}}
			sorted[e.Policy] = of
		}
		if e.Images == nil {
			of.any = longer(of.any, e)
		}
		for digest := range e.Images {
			of.byImage[digest] = longer(of.byImage[digest], e)
		}
	}
	return sorted
}

// longer returns the exception that ends last; of equal ones, the first by name.
func longer(a, b *Exception) *Exception {
	switch {
	case a == nil:
		return b
	case a.Expires.Equal(b.Expires):
		if b.Name < a.Name {
			return b
		}
		return a
	case b.Expires.After(a.Expires):
		return b
	}
	return a
}

// admits returns the exception that admits a container; nil if none does.
func (e *exceptions) admits(container Container, image name) *Exception {
	if e == nil {
		return nil
	}
	found, digests := e.any, container.Digests
	if !image.isID() {
		digests = append([]v1alpha1.Digest{image.digest}, digests...)
	}
	for _, digest := range digests {
		if by := e.byImage[digest]; by != nil {
			found = longer(found, by)
		}
	}
	return found
}
