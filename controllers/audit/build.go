package audit

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// build makes the audit Pod of the spec and of the operator's configuration.
func (r *Reconciler) build(ctx context.Context, s *session, secrets []string) (*corev1.Pod, error) {
	limits, err := r.Options.ServerLimits()
	if err != nil {
		return nil, err
	}
	users, err := r.userNamespace(ctx, s.audit)
	if err != nil {
		return nil, err
	}
	return podspec.Build(podspec.Input{
		Audit: s.audit, Run: s.run, Image: s.image, Platform: s.platform, Command: s.command, PullSecrets: secrets,
		Namespace: r.Options.RunNamespace, RunnerImage: r.Options.RunnerImage,
		ServerLimits: limits, Margin: r.Options.StartDeadline + r.Options.PodMargin,
		RuntimeClass: r.Options.RuntimeClass, UserNamespace: users,
		Template: r.Options.PodTemplate, AllowedMetadata: r.Options.AllowedMetadata,
		APIServers: r.Options.APIServers,
	})
}

// userNamespace tells whether the Pod has a user namespace of its own. Which runtime a
// RuntimeClass stands for is not asked: with one, all of them have to be able.
func (r *Reconciler) userNamespace(ctx context.Context, audit *v1alpha1.MCPServerAudit) (bool, error) {
	switch r.Options.UserNamespaces {
	case options.UserNamespacesAlways:
		return true, nil
	case options.UserNamespacesNever:
		return false, nil
	}
	support, err := r.nodes.UserNamespaces(ctx, r.Live, r.Clock.Now())
	if cmp.Or(audit.Spec.Sandbox.RuntimeClassName, r.Options.RuntimeClass) != "" {
		return support.All, err
	}
	return support.Default, err
}
