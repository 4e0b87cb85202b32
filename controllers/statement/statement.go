// Package statement makes the in-toto statement of an audit for the annotations of its report,
// signed if a key is configured. controllers/audit attaches it when it stores the report, so it
// needs no further write and has the report's protection.
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

// RBAC of the statements.
//
// The key is read by name for each audit, so replacing it takes effect with the next one. A
// Secret of another name needs its own Role (docs/attestations.md).
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,resourceNames=mcpaudit-attestation-key,namespace=mcpaudit-system

// The keys of the Secret, as made by cosign generate-key-pair k8s://NAMESPACE/NAME.
const (
	keyEntry      = "cosign.key"
	passwordEntry = "cosign.password"
)

// Attester makes statements.
type Attester struct {
	// Live reads the Secret; keys are not cached.
	Live client.Reader
	// Namespace and Secret name the key; without a Secret, statements are not signed.
	Namespace, Secret string
	// Namespaces whose audits are signed; AllNamespaces for all.
	Namespaces []string
}

// AllNamespaces enables signing in all namespaces.
const AllNamespaces = "*"

// signs reports whether audits of this namespace are signed.
func (a *Attester) signs(audit *statement.Audit) bool {
	return a.Secret != "" && audit != nil && (slices.Contains(a.Namespaces, audit.Namespace) || slices.Contains(a.Namespaces, AllNamespaces))
}

// Outcome is the result of making a statement, as in the metric.
type Outcome string

// The outcomes.
const (
	Signed   Outcome = "signed"
	Unsigned Outcome = "unsigned" // as configured
	// NotSigned: a key is configured but unusable.
	NotSigned Outcome = "key_unusable"
	// None: the audit has nothing to make a statement about.
	None Outcome = "none"
)

// Result is a statement with what became of it.
type Result struct {
	Outcome Outcome
	// Annotations of the report; none without a statement.
	Annotations map[string]string
	// Problem says why a required signature is missing.
	Problem string
}

// Attest returns the annotations of an audit's report. Errors are transient API errors; any
// other problem is in the Result, as the audit continues.
func (a *Attester) Attest(ctx context.Context, r report.Report, of statement.Image) (Result, error) {
	made, err := statement.New(r, of)
	if err != nil {
		return Result{Outcome: None}, nil //nolint:nilerr // a remote server or an image without a digest has no statement
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

// unusable is the reason why a key stays unusable until it is replaced.
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
