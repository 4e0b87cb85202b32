package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// errNoSecret means that the manager may not read a pull secret yet.
var errNoSecret = errors.New("no pull secret")

// resolve turns the spec's image into what the Pod runs. The registry's answer to the audit's
// own credentials proves that its author may pull the image; without it nothing runs, as the
// node and the operator may have credentials that the author lacks. If node images are allowed,
// an image with a command is passed on as given, and the kubelet decides.
func (r *Reconciler) resolve(ctx context.Context, s *session) (outcome, error) {
	server := s.audit.Spec.Server
	if server.URL != "" {
		return proceed, nil // a remote server has no image
	}
	var image imageref.Image
	secrets, err := r.pullSecrets(ctx, s.audit)
	if err == nil {
		image, err = r.ask(ctx, s.audit, secrets)
	}
	s.secrets = secrets
	switch {
	case err == nil:
		return r.accept(s, image), nil
	case errors.Is(err, imageref.ErrInvalid), errors.Is(err, imageref.ErrAmbiguous):
		s.fail(report.ReasonImagePullFailed, "%s", err)
	case errors.Is(err, imageref.ErrBusy):
		return wait(busyPause), nil // nothing was learned, so report nothing
	case errors.Is(err, errNoSecret), errors.Is(err, imageref.ErrBadSecret):
		return r.retryResolve(s, err), nil
	case r.Options.Allowed.NodeImages && len(server.Command) > 0 && imageError(err):
		if out := r.surroundings(s, nil, ""); out != proceed {
			return out, nil
		}
		s.image = server.Image
		s.runs(slices.Concat(server.Command, server.Args))
	case errors.Is(err, imageref.ErrUnreachable):
		return r.retryResolve(s, err), nil
	case errors.Is(err, imageref.ErrUnauthorized), errors.Is(err, imageref.ErrNotFound):
		s.fail(report.ReasonImagePullFailed, "%s%s", err, r.onNodes())
	default:
		return proceed, err
	}
	return proceed, nil
}

// accept uses an image that its registry returned.
func (r *Reconciler) accept(s *session, image imageref.Image) outcome {
	if err := r.Options.Allowed.CheckImage(s.audit.Spec.Server.Image, image.Size); err != nil {
		s.halt(notAllowed(err))
		return rest
	}
	if out := r.surroundings(s, image.Env, image.WorkingDir); out != proceed {
		return out
	}
	s.place(image.Env, image.WorkingDir)
	s.found(image)
	return proceed
}

// onNodes is advice for an image that its registry does not return. Advice for any unresolvable
// image is in controllers/verdict.
func (r *Reconciler) onNodes() string {
	if !r.Options.Allowed.NodeImages {
		return ""
	}
	return ". If it is on the nodes already, set spec.server.command"
}

// ask asks the registry, within the namespace's limit.
func (r *Reconciler) ask(ctx context.Context, audit *v1alpha1.MCPServerAudit, secrets []corev1.Secret) (imageref.Image, error) {
	if !r.registryLimiter.enter(audit.Namespace) {
		return imageref.Image{}, fmt.Errorf("%w of namespace %s", imageref.ErrBusy, audit.Namespace)
	}
	defer r.registryLimiter.leave(audit.Namespace)
	return r.Images.Resolve(ctx, audit.Spec.Server.Image, secrets)
}

// imageError reports whether an error is a registry's, not the API server's.
func imageError(err error) bool {
	return errors.Is(err, imageref.ErrNotFound) || errors.Is(err, imageref.ErrUnauthorized) || errors.Is(err, imageref.ErrUnreachable)
}

// found combines the command line as a kubelet does: command replaces ENTRYPOINT and CMD, args
// replaces CMD.
func (s *session) found(image imageref.Image) {
	server := s.audit.Spec.Server
	entrypoint, args := image.Entrypoint, image.Cmd
	if len(server.Command) > 0 {
		entrypoint, args = server.Command, nil
	}
	if len(server.Args) > 0 {
		args = server.Args
	}
	s.image, s.platform = image.Reference, image.Platform
	s.runs(slices.Concat(entrypoint, args))
	if image.Several {
		s.run.Audited.Platform = image.Platform
	}
	s.identified(image)
	if len(s.command) == 0 {
		s.fail(report.ReasonImagePullFailed, "The image %s has neither ENTRYPOINT nor CMD. Set spec.server.command to the server's command line", server.Image)
	}
}

// identified records the image's digest and the manifest that runs.
func (s *session) identified(image imageref.Image) {
	of := &s.run.Audited
	of.ImageID, of.Digests = v1alpha1.Digest(image.ID), []v1alpha1.Digest{v1alpha1.Digest(image.Manifest)}
	named := v1alpha1.Digest(image.Digest)
	switch {
	case image.Ambiguous != "":
		of.AmbiguousDigest, s.run.Ambiguous = named, image.Ambiguous
	case image.Digest != image.Manifest:
		of.Digests = append([]v1alpha1.Digest{named}, of.Digests...)
	}
	s.run.ImageDigest, s.resolved = named, named
}

func (s *session) runs(command []string) {
	s.command = command
	s.run.Audited.ArgvDigest = v1alpha1.CommandDigest(command, nil)
}

// busyPause is the retry interval while the registry limit is reached.
const busyPause = 2 * time.Second

// The bounds of the interval between attempts to resolve an image. It grows with the elapsed
// time, so it doubles each time.
const (
	minResolvePause = 5 * time.Second
	maxResolvePause = 2 * time.Minute
)

// retryResolve retries errors that may pass, until a deadline.
func (r *Reconciler) retryResolve(s *session, cause error) outcome {
	s.progress(v1alpha1.ReasonResolvingImage, fmt.Sprintf("The image cannot be resolved yet, and is tried again for up to %s: %s.", r.Options.ResolveDeadline, cause))
	elapsed := s.age(s.since().Time)
	if elapsed >= r.Options.ResolveDeadline {
		remedy := ""
		if imageError(cause) {
			remedy = r.onNodes()
		}
		s.fail(report.ReasonImagePullFailed, "The image could not be resolved within %s: %s%s", r.Options.ResolveDeadline, cause, remedy)
		return proceed
	}
	return wait(min(max(elapsed, minResolvePause), maxResolvePause))
}

// pullSecrets reads the pull secrets live, by name: the manager lists no secrets. A missing
// Secret and one of another type give the same error, or audit authors could probe which
// Secrets exist.
func (r *Reconciler) pullSecrets(ctx context.Context, audit *v1alpha1.MCPServerAudit) ([]corev1.Secret, error) {
	var secrets []corev1.Secret
	for _, reference := range audit.Spec.Server.ImagePullSecrets {
		var secret corev1.Secret
		switch err := r.Live.Get(ctx, client.ObjectKey{Namespace: audit.Namespace, Name: reference.Name}, &secret); {
		case apierrors.IsNotFound(err):
			return nil, imageref.BadSecret(reference.Name)
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("%w: %s", errNoSecret, allowPullSecret(err, audit.Namespace, reference.Name))
		case err != nil:
			return nil, fmt.Errorf("read pull secret: %w", err)
		}
		if err := imageref.CheckSecret(secret); err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// pullSecretReader is the ClusterRole that lets the manager read a namespace's pull secrets,
// and the binding's name in the suggested command.
const pullSecretReader = "mcpaudit-pull-secret-reader"

// defaultAccount is the service account of config/rbac.
const defaultAccount = "mcpaudit-system:mcpaudit-manager"

// deniedAccount extracts the service account from the API server's refusal: the operator may be
// installed under another name.
var deniedAccount = regexp.MustCompile(`"system:serviceaccount:([a-z0-9-]{1,63}:[a-z0-9.-]{1,253})"`)

// allowPullSecret explains how to let the manager read a pull secret. It has no access of its
// own: the namespace's owner grants it. The command is quoted because a period follows the
// sentence.
func allowPullSecret(denied error, namespace, secret string) string {
	account := defaultAccount
	if match := deniedAccount.FindStringSubmatch(denied.Error()); match != nil {
		account = match[1]
	}
	return fmt.Sprintf("the manager may not read the secret %s of namespace %s. Allow it: `kubectl create rolebinding %s --namespace=%s --clusterrole=%s --serviceaccount=%s`",
		secret, namespace, pullSecretReader, namespace, pullSecretReader, account)
}
