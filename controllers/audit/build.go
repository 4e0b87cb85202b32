package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// build makes the audit Pod from the spec and the operator's configuration.
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
		NodeImage: s.resolved == "", RunnerPullSecrets: r.Options.RunnerPullSecrets,
		Audit: s.audit, Run: s.run, Image: s.image, Platform: s.platform, Command: s.command, PullSecrets: secrets,
		Namespace: r.Options.RunNamespace, RunnerImage: r.Options.RunnerImage,
		ServerLimits: limits, Margin: r.Options.StartDeadline + r.Options.PodMargin,
		RuntimeClass: r.Options.RuntimeClass, UserNamespace: users,
		Template: r.Options.PodTemplate, AllowedMetadata: r.Options.AllowedMetadata,
		APIServers: r.Options.APIServers,
	})
}

// errWeaker means that the audit's RuntimeClass would disable its user namespace.
var errWeaker = errors.New("the RuntimeClass cannot be used")

// userNamespace reports whether the Pod gets a user namespace. Auto depends on the handler of
// its RuntimeClass. An audit's own class must not take away the user namespace that the default
// class has.
func (r *Reconciler) userNamespace(ctx context.Context, audit *v1alpha1.MCPServerAudit) (bool, error) {
	switch r.Options.UserNamespaces {
	case options.UserNamespacesAlways:
		return true, nil
	case options.UserNamespacesNever:
		return false, nil
	}
	support, err := r.nodes.UserNamespaces(ctx, r.Live, r.Clock.Now())
	if err != nil {
		return false, err
	}
	able := func(class string) (bool, error) {
		handler, found, err := r.handler(ctx, class)
		return found && support[handler], err
	}
	class := audit.Spec.Sandbox.RuntimeClassName
	has, err := able(cmp.Or(class, r.Options.RuntimeClass))
	if err != nil || has || class == "" || class == r.Options.RuntimeClass {
		return has, err
	}
	weaker, err := able(r.Options.RuntimeClass)
	if err == nil && weaker {
		err = fmt.Errorf("%w: spec.sandbox.runtimeClassName: the handler of %q has no user namespaces, and the Pod would have one without it: leave it out, or set userNamespaces in the operator's configuration",
			errWeaker, class)
	}
	return false, err
}

// handler returns the runtime handler of a RuntimeClass. The API server rejects Pods with an
// unknown class.
func (r *Reconciler) handler(ctx context.Context, class string) (handler string, found bool, err error) {
	if class == "" {
		return "", true, nil
	}
	var object nodev1.RuntimeClass
	err = r.Live.Get(ctx, client.ObjectKey{Name: class}, &object)
	if apierrors.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read RuntimeClass: %w", err)
	}
	return object.Handler, true, nil
}
