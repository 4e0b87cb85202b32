package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Serving is the certificate of the Secret, on every replica. It is a
// manager.Runnable that follows the Secret.
type Serving struct {
	// Cache has an informer for the Secret, see CacheOptions.
	Cache cache.Cache

	current atomic.Pointer[tls.Certificate]
}

// informPeriod is the retry interval while the API server does not answer.
const informPeriod = 2 * time.Second

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Serving) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s *Serving) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, informPeriod, true, func(ctx context.Context) (bool, error) {
		informer, err := s.Cache.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: s.take, UpdateFunc: func(_, after any) { s.take(after) },
			})
		}
		if err != nil {
			log.FromContext(ctx).Info("Waited for the Secret of the gate", "error", err.Error())
		}
		return err == nil, nil
	})
	_ = err // only when the manager stops
	return nil
}

// take serves the certificate of a Secret. An unusable one changes nothing: the current
// certificate remains valid, and the Keeper replaces the Secret.
func (s *Serving) take(object any) {
	secret, ok := object.(*corev1.Secret)
	if !ok || secret.Name != SecretName {
		return
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		log.Log.Error(err, "Could not read the certificate of the gate", "secret", secret.Name)
		return
	}
	if before := s.current.Swap(&pair); before == nil || !before.Leaf.Equal(pair.Leaf) {
		log.Log.Info("Served with another certificate", "until", pair.Leaf.NotAfter)
	}
}

// Certificate is used as tls.Config.GetCertificate.
func (s *Serving) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := s.current.Load(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("the gate has no certificate yet")
}

// Expires returns the expiry of the certificate; zero without one.
func (s *Serving) Expires() time.Time {
	if pair := s.current.Load(); pair != nil {
		return pair.Leaf.NotAfter
	}
	return time.Time{}
}

// Check is a healthz.Checker: it fails until there is a certificate.
func (s *Serving) Check(*http.Request) error {
	if s.current.Load() == nil {
		return fmt.Errorf("the Secret %s has no certificate yet", SecretName)
	}
	return nil
}
