// Package statement makes the in-toto statement of an audit, for the annotations of its
// report: signed, if the configuration names a key. controllers/audit asks for it when
// it stores a report, so that it costs no further write, and is guarded as reports are.
package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// What the statements take, for the roles in config/rbac.
//
// The key is read by its name, for each audit, so that another key is used from the
// next one on. A Secret of another name takes a Role of one's own (docs/attestations.md).
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,resourceNames=mcpaudit-attestation-key,namespace=mcpaudit-system

// The keys of the Secret, as cosign generate-key-pair k8s://NAMESPACE/NAME makes it.
const (
	keyEntry      = "cosign.key"
	passwordEntry = "cosign.password"
)

// Attester makes statements.
type Attester struct {
	// Live reads the Secret, past the cache: the manager keeps no keys.
	Live client.Reader
	// Namespace and Secret name the key; no Secret is for statements that nobody signs.
	Namespace, Secret string
	// Namespaces has those whose audits are signed; AllNamespaces for all.
	Namespaces []string
}

// AllNamespaces has the audits of all namespaces signed.
const AllNamespaces = "*"

// signs reports whether an audit is of a namespace whose audits are signed.
func (a *Attester) signs(audit *statement.Audit) bool {
	return a.Secret != "" && audit != nil && (slices.Contains(a.Namespaces, audit.Namespace) || slices.Contains(a.Namespaces, AllNamespaces))
}

// Outcome says what became of a statement, in the word of the metric.
type Outcome string

// The outcomes.
const (
	Signed   Outcome = "signed"
	Unsigned Outcome = "unsigned" // as configured
	// NotSigned: there is to be a key, and it cannot be used.
	NotSigned Outcome = "key_unusable"
	// None: there is nothing that a statement could be about.
	None Outcome = "none"
)

// Result is a statement with what became of it.
type Result struct {
	Outcome Outcome
	// Annotations of the report; none without a statement.
	Annotations map[string]string
	// Problem says why there is no signature although there should be one.
	Problem string
}

// Attest makes the annotations of the report of an audit. An error is one of the API
// server that may pass; whatever else is wrong is a Result, for audits go on.
func (a *Attester) Attest(ctx context.Context, r report.Report, of statement.Image) (Result, error) {
	made, err := statement.New(r, of)
	if err != nil {
		return Result{Outcome: None}, nil //nolint:nilerr // a server that runs elsewhere, an image without a digest: there is none
	}
	if !a.signs(of.Audit) {
		return plain(made, Unsigned, "")
	}
	key, err := a.key(ctx)
	var cannot unusable
	switch {
	case errors.As(err, &cannot):
		return plain(made, NotSigned, fmt.Sprintf("The statement of the audit is not signed: attestation.keySecret %s in namespace %s: %s.", a.Secret, a.Namespace, cannot))
	case err != nil:
		return Result{}, err
	}
	envelope, err := key.Sign(made)
	if err != nil {
		return Result{}, err
	}
	return annotate(Signed, v1alpha1.AttestationAnnotation, envelope)
}

func plain(made statement.Statement, outcome Outcome, problem string) (Result, error) {
	result, err := annotate(outcome, v1alpha1.StatementAnnotation, made)
	result.Problem = problem
	return result, err
}

func annotate(outcome Outcome, annotation string, what any) (Result, error) {
	encoded, err := json.Marshal(what)
	if err != nil {
		return Result{}, fmt.Errorf("encode statement: %w", err)
	}
	return Result{Outcome: outcome, Annotations: map[string]string{annotation: string(encoded)}}, nil
}

// unusable is why a key cannot be used until somebody does something.
type unusable string

func (u unusable) Error() string { return string(u) }

func (a *Attester) key(ctx context.Context) (*statement.PrivateKey, error) {
	var secret corev1.Secret
	err := a.Live.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Secret}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, unusable("there is no such Secret")
	case apierrors.IsForbidden(err):
		return nil, unusable("the operator may not read it: name it mcpaudit-attestation-key, or grant get on it by a Role")
	case err != nil:
		return nil, fmt.Errorf("read attestation key: %w", err)
	}
	encoded, ok := secret.Data[keyEntry]
	if !ok {
		return nil, unusable("it has no entry " + keyEntry)
	}
	password := strings.TrimRight(string(secret.Data[passwordEntry]), "\n")
	key, err := statement.ReadPrivateKey(encoded, []byte(password))
	if err != nil {
		return nil, unusable(fmt.Sprintf("%s: %s", keyEntry, err))
	}
	return key, nil
}
