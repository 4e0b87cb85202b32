package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) approveCommand() *cobra.Command {
	var apply bool
	c := &cobra.Command{
		Use: "approve NAME", Short: "Pin the manifest of the last audit as the baseline", Args: cli.Args(1, 1), ValidArgsFunction: s.completeAudit,
		Example: s.examples(
			"approve notes                 # what changed, and the patch for a pull request",
			"approve notes > pin.yaml      # then: kubectl patch mcpserveraudit notes --type merge --patch-file pin.yaml",
			"approve notes --apply"),
		RunE: s.connected(func(ctx context.Context, a *api, args []string) error { return s.approve(ctx, a, args[0], apply) }),
	}
	c.Flags().BoolVar(&apply, "apply", false, "patch the audit as well; Flux and Argo CD would undo the patch of an audit they manage")
	return c
}

// approve prints the patch that pins the manifest, and applies it if asked.
func (s *session) approve(ctx context.Context, a *api, name string, apply bool) error {
	audit, err := a.audit(ctx, name)
	if err != nil {
		return err
	}
	if err := approvable(audit, s.name); err != nil {
		return err
	}
	digest := audit.Status.ManifestDigest
	if audit.Spec.Baseline.Mode == v1alpha1.BaselinePinned && audit.Spec.Baseline.ManifestDigest == digest {
		s.note("%s is already pinned to the manifest of its last audit, %s.", place(audit), digest)
		return nil
	}
	if err := s.propose(ctx, a, audit); err != nil {
		return err
	}
	manager := managedBy(audit)
	switch {
	case manager != "" && apply:
		return fmt.Errorf("%s manages %s and would undo the change: apply the patch above to its source; nothing was changed", manager, place(audit))
	case manager != "":
		s.note("%s manages %s: apply this patch to its source.", manager, place(audit))
		return nil
	case !apply:
		return nil
	}
	encoded, err := json.Marshal(pin(audit, audit.UID))
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	if err := a.patch(ctx, name, encoded); err != nil {
		return err
	}
	s.note("%s is now pinned to %s; the operator audits it again.", place(audit), digest)
	return nil
}

// propose prints the patch, below comments for its reviewer.
func (s *session) propose(ctx context.Context, a *api, audit *v1alpha1.MCPServerAudit) error {
	v, err := a.view(ctx, audit)
	if err != nil {
		return err
	}
	comment, err := a.review(ctx, v)
	if err != nil {
		return err
	}
	patch, err := yaml.Marshal(pin(audit, ""))
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	_, err = s.stdout().Write(append(commented(comment), patch...))
	return err
}

// approvable returns an error if there is nothing to approve.
func approvable(a *v1alpha1.MCPServerAudit, program string) error {
	audited := condition(a, v1alpha1.ConditionAudited)
	switch {
	case a.Status.Verdict == "":
		return fmt.Errorf("%s has not been audited yet: see %s show %s -n %s", place(a), program, a.Name, a.Namespace)
	case !settled(a), reason(a) == v1alpha1.ReasonSuspended:
		return fmt.Errorf("the spec of %s has changed since its last audit: wait for the next one (see %s show %s -n %s)", place(a), program, a.Name, a.Namespace)
	case reason(a) == v1alpha1.ReasonInvalidSpec, reason(a) == v1alpha1.ReasonNotAllowed:
		return fmt.Errorf("the spec of %s is invalid or not allowed, so its last audit may be of another spec: correct it first (see %s show %s -n %s)", place(a), program, a.Name, a.Namespace)
	case audited != nil && audited.Reason == string(report.ReasonImageMismatch):
		return fmt.Errorf("nothing to approve: the last audit of %s ran another image: %s", place(a), audited.Message)
	case a.Status.ManifestDigest == "" && audited != nil:
		return fmt.Errorf("nothing to approve: the last audit of %s did not list the whole manifest: %s: %s", place(a), audited.Reason, audited.Message)
	case a.Status.ManifestDigest == "":
		return fmt.Errorf("nothing to approve: the last audit of %s did not list the whole manifest", place(a))
	}
	return nil
}

// patched is a merge patch that pins a baseline, as accepted by kubectl patch and Kustomize.
type patched struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        identity `json:"metadata"`
	Spec            struct {
		Baseline v1alpha1.Baseline `json:"baseline"`
	} `json:"spec"`
}

type identity struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	UID       types.UID `json:"uid,omitempty"`
}

// pin returns the patch. With a UID the API server rejects it for a recreated audit.
func pin(a *v1alpha1.MCPServerAudit, uid types.UID) patched {
	p := patched{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: string(anAudit)},
		Metadata: identity{Name: a.Name, Namespace: a.Namespace, UID: uid},
	}
	p.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: a.Status.ManifestDigest}
	return p
}

// review describes the changes since the baseline, and what an approval does not cover.
func (a *api) review(ctx context.Context, v *view) (string, error) {
	var text strings.Builder
	audit := v.audit
	line(&text, "Approves what %s advertised in its audit of %s.", render.Escape(place(audit)), moment(audit.Status.LastAuditTime.Time))
	d, err := a.since(ctx, v)
	var explained explanation
	switch {
	case err == nil:
		line(&text, "Since the baseline:")
		if err := render.DifferenceTable(&text, d, false); err != nil {
			return "", err
		}
	case errors.As(err, &explained):
		return "", err // the API server's
	case errors.Is(err, errSame):
		line(&text, "The manifest is that of the baseline: nothing has changed.")
	default:
		line(&text, "The changes cannot be shown: %s.", render.Escape(err.Error()))
	}
	if r := v.report; r != nil && len(r.Drifts) > 0 {
		line(&text, "Warning: the manifest also changed during that audit; only the one at its start is approved (see %s show %s).", a.name, audit.Name)
	}
	if f := audit.Status.Findings; f != nil && f.Counts().Total() > 0 {
		line(&text, "This does not accept the findings: %s. Verdict: %s.", f.Counts(), audit.Status.Verdict)
	}
	return text.String(), nil
}

func commented(text string) []byte {
	var all bytes.Buffer
	for l := range strings.Lines(text) {
		all.WriteString(strings.TrimRight("# "+strings.TrimRight(l, "\n"), " ") + "\n")
	}
	return all.Bytes()
}

// managedBy names the GitOps tool that manages an object; empty if none does.
//
// It knows the labels and annotations of Flux (kustomize-controller and helm-controller) and
// Argo CD (tracking by label and by annotation), and their field managers.
func managedBy(a *v1alpha1.MCPServerAudit) string {
	const flux = ".toolkit.fluxcd.io/"
	for _, by := range []struct{ prefix, kind string }{{"kustomize", "Kustomization"}, {"helm", "HelmRelease"}} {
		if name := a.Labels[by.prefix+flux+"name"]; name != "" {
			return fmt.Sprintf("Flux (%s %s/%s)", by.kind, a.Labels[by.prefix+flux+"namespace"], name)
		}
	}
	if id := a.Annotations["argocd.argoproj.io/tracking-id"]; id != "" {
		app, _, _ := strings.Cut(id, ":")
		return fmt.Sprintf("Argo CD (Application %s)", app)
	}
	if app := a.Labels["argocd.argoproj.io/instance"]; app != "" {
		return fmt.Sprintf("Argo CD (Application %s)", app)
	}
	for _, f := range a.ManagedFields {
		switch {
		case f.Manager == "kustomize-controller", f.Manager == "helm-controller":
			return "Flux"
		case strings.HasPrefix(f.Manager, "argocd"):
			return "Argo CD"
		}
	}
	return ""
}
