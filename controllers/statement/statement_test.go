package statement_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	api "github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/controllers/statement"
)

// refuses is an API server that answers every read with one error.
type refuses struct {
	client.Reader
	err error
}

func (r refuses) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return r.err
}

func passed() report.Report {
	return report.Report{Verdict: report.VerdictPass, Reason: report.ReasonPassed, Server: report.ServerRun{Command: []string{"/notes"}}}
}

func image() api.Image {
	return api.Image{Audited: api.Audited{Reference: "notes:1", KnownBy: api.KnownByOperator}, Digests: []string{"sha256:" + strings.Repeat("a", 64)}, Audit: &api.Audit{Namespace: "team", Name: "notes"}}
}

// TestUnreadableKey: an error that may pass is one, so that the audit is tried again; what
// somebody has to mend is told, and the statement is there without a signature.
func TestUnreadableKey(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, test := range map[string]struct {
		err     error
		outcome statement.Outcome
	}{
		"away":      {apierrors.NewServiceUnavailable("away"), ""},
		"throttled": {apierrors.NewTooManyRequests("later", 1), ""},
		"no Secret": {apierrors.NewNotFound(secrets, "key"), statement.NotSigned},
		"no right":  {apierrors.NewForbidden(secrets, "key", errors.New("no")), statement.NotSigned},
	} {
		a := &statement.Attester{Live: refuses{err: test.err}, Namespace: "mcpaudit-system", Secret: "key", Namespaces: []string{"team"}}
		got, err := a.Attest(t.Context(), passed(), image())
		if got.Outcome != test.outcome || (err != nil) != (test.outcome == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err == nil && (len(got.Annotations) != 1 || !strings.Contains(got.Problem, "attestation.keySecret key")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestS9OnlySelectedNamespaces: no key is asked for, and nothing signed, of an audit that
// anybody else wrote.
func TestS9OnlySelectedNamespaces(t *testing.T) {
	for _, test := range []struct {
		namespaces []string
		asked      bool
	}{{nil, false}, {[]string{"platform"}, false}, {[]string{"platform", "team"}, true}, {[]string{statement.AllNamespaces}, true}} {
		a := &statement.Attester{Live: refuses{err: errors.New("the key was asked for")}, Secret: "key", Namespaces: test.namespaces}
		got, err := a.Attest(t.Context(), passed(), image())
		if (err != nil) != test.asked || !test.asked && got.Outcome != statement.Unsigned {
			t.Errorf("%q: %+v, %v", test.namespaces, got, err)
		}
	}
}

// TestNothingToState: no key is asked for where there is no statement, nor a Pass stated
// of what was not complete.
func TestNothingToState(t *testing.T) {
	a := &statement.Attester{Live: refuses{err: errors.New("must not be read")}, Secret: "key"}
	incomplete := passed()
	incomplete.Incomplete = &report.Incomplete{Reason: report.ReasonTimeout}
	for name, test := range map[string]struct {
		report report.Report
		image  api.Image
	}{
		"no image": {passed(), api.Image{}}, "a Pass that is incomplete": {incomplete, image()},
		"elsewhere": {report.Report{Server: report.ServerRun{URL: "https://example.com"}}, image()},
	} {
		if got, err := a.Attest(t.Context(), test.report, test.image); err != nil || got.Outcome != statement.None || got.Annotations != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
