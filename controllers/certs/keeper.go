package certs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	acadmission "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// RBAC of the certificate.
//
// One Secret in the operator's namespace: create cannot be restricted by name.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create,namespace=mcpaudit-system,roleName=mcpaudit-gate-certificate
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update,resourceNames=mcpaudit-gate-certificate,namespace=mcpaudit-system,roleName=mcpaudit-gate-certificate
//
// The CA bundle is patched into one webhook configuration, which is watched because a reinstall
// empties the field.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;list;watch;patch,resourceNames=mcpaudit-gate,roleName=mcpaudit-gate-certificate

// The objects that the gate is installed with, as in config/webhook.
const (
	SecretName        = "mcpaudit-gate-certificate"
	ConfigurationName = "mcpaudit-gate"
	webhookName       = "gate.mcpaudit.dev"
	serviceName       = "mcpaudit-gate"
	// fieldOwner owns only caBundle, so whoever applies the rest of the configuration sees no
	// drift.
	fieldOwner = client.FieldOwner("mcpaudit-gate-certificate")
)

// Keeper maintains the Secret and caBundle unless the certificate is External. It runs in every
// replica of the manager: the gate is not ready without a certificate and must not wait for
// leader election. Of two concurrent writes, the second conflicts and is retried.
type Keeper struct {
	// Client reads webhook configurations from the cache; Live reads the Secret.
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	// Namespace of the Secret.
	Namespace string
	// Names are the DNS names of the certificate, see Names.
	Names []string
}

// CacheOptions restricts the cache to the one Secret and the one configuration, as RBAC does.
func CacheOptions(namespace string) map[client.Object]cache.ByObject {
	all := ServingCache(namespace)
	all[&admissionregistrationv1.ValidatingWebhookConfiguration{}] = cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, ConfigurationName)}
	return all
}

// ServingCache restricts the cache to the one Secret, for Serving.
func ServingCache(namespace string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Namespaces: map[string]cache.Config{namespace: {FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, SecretName)}}},
	}
}

// SetupWithManager registers the controller.
func (k *Keeper) SetupWithManager(manager ctrl.Manager) error {
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: SecretName}}
	one := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{request} })
	return ctrl.NewControllerManagedBy(manager).
		Named("gate-certificate").
		Watches(&corev1.Secret{}, one).
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, one).
		WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			queue.Add(request) // there may be no object to watch yet
			return nil
		})).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(k)
}

// Names are the DNS names of the gate's Service.
func Names(namespace string) []string {
	return []string{serviceName + "." + namespace + ".svc", serviceName + "." + namespace + ".svc.cluster.local"}
}

// Reconcile implements reconcile.Reconciler.
func (k *Keeper) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	configuration, err := k.configuration(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	bundle, again, err := k.keep(ctx, trusted(configuration))
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil // a concurrent write: look again
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again}, k.inject(ctx, configuration, bundle)
}

// configuration returns the configuration of the webhook; nil if it is not installed.
func (k *Keeper) configuration(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	var found admissionregistrationv1.ValidatingWebhookConfiguration
	err := k.Client.Get(ctx, client.ObjectKey{Name: ConfigurationName}, &found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read webhook configuration: %w", err)
	}
	return &found, nil
}

// webhook returns the webhook that needs the CA bundle, or nil.
func webhook(of *admissionregistrationv1.ValidatingWebhookConfiguration) *admissionregistrationv1.ValidatingWebhook {
	if of == nil {
		return nil
	}
	for i := range of.Webhooks {
		if of.Webhooks[i].Name == webhookName {
			return &of.Webhooks[i]
		}
	}
	return nil
}

// trusted is the CA bundle of the webhook configuration, or nil.
func trusted(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) []byte {
	if hook := webhook(configuration); hook != nil && len(hook.ClientConfig.CABundle) > 0 {
		return hook.ClientConfig.CABundle
	}
	return nil
}

// keep updates the Secret if needed, and returns the CA bundle and when to check again.
func (k *Keeper) keep(ctx context.Context, trusted []byte) ([]byte, time.Duration, error) {
	key := client.ObjectKey{Namespace: k.Namespace, Name: SecretName}
	var secret corev1.Secret
	err := k.Live.Get(ctx, key, &secret)
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return nil, 0, fmt.Errorf("read Secret: %w", err)
	}
	now := k.Clock.Now()
	plan, err := Make(now, secret.Data, k.Names, trusted)
	if err != nil {
		return nil, 0, err
	}
	if plan.Reason != "" {
		secret.Data = maps.Clone(plan.Data)
		if absent {
			secret.Namespace, secret.Name, secret.Type = key.Namespace, key.Name, corev1.SecretTypeTLS
		}
		if err = k.store(ctx, &secret, absent); err != nil {
			return nil, 0, fmt.Errorf("write Secret: %w", err)
		}
		log.FromContext(ctx).Info("Wrote the certificate of the gate", "because", plan.Reason)
		k.Events.Eventf(&secret, nil, corev1.EventTypeNormal, "CertificateWritten", "Renew", "Wrote the certificate of the gate: %s.", plan.Reason)
	}
	return plan.Data[caBundleEntry], plan.CheckAt.Sub(now), nil
}

func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, absent bool) error {
	if absent {
		return k.Client.Create(ctx, secret)
	}
	return k.Client.Update(ctx, secret) // conflicts with a concurrent write
}

// inject writes the CA bundle into the configuration if it differs.
func (k *Keeper) inject(ctx context.Context, configuration *admissionregistrationv1.ValidatingWebhookConfiguration, bundle []byte) error {
	hook := webhook(configuration)
	if hook == nil || len(bundle) == 0 || bytes.Equal(hook.ClientConfig.CABundle, bundle) {
		return nil
	}
	// The UID prevents recreating a configuration that was deleted meanwhile.
	applied := acadmission.ValidatingWebhookConfiguration(ConfigurationName).WithUID(configuration.UID).
		WithWebhooks(acadmission.ValidatingWebhook().WithName(webhookName).
			WithClientConfig(acadmission.WebhookClientConfig().WithCABundle(bundle...)))
	err := k.Client.Apply(ctx, applied, fieldOwner, client.ForceOwnership)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("tell the API server the authority: %w", err)
	}
	if err == nil {
		log.FromContext(ctx).Info("Told the API server the authority of the gate")
	}
	return nil
}
