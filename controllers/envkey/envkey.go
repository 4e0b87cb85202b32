// Package envkey keeps the key for environment digests (api/environ) in a Secret of the
// operator's namespace. The manager creates it once; the gate only reads it.
package envkey

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// RBAC of the key.
//
// The manager creates the key for environment digests once, and reads it.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create,namespace=mcpaudit-system
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,resourceNames=mcpaudit-environment-key,namespace=mcpaudit-system

// SecretName is the Secret with the key; entry is its key in the data.
const (
	SecretName = "mcpaudit-environment-key"
	entry      = "key"
	keyBytes   = 32
)

// every is the interval for reading the Secret again, so a replaced one takes effect; soon is
// the retry interval before the first success.
const (
	every = 30 * time.Second
	soon  = 2 * time.Second
)

// Keeper reads the key, and creates it if it has a Writer. It is safe for concurrent use.
type Keeper struct {
	Live      client.Reader
	Writer    client.Writer // nil to only read
	Namespace string

	key atomic.Pointer[[]byte]
	// read is set once the Secret was read or is known to be absent.
	read atomic.Bool
}

// Key returns the last key read; nil before that. Without a key no environment equals an
// audit's.
func (k *Keeper) Key() []byte {
	if key := k.key.Load(); key != nil {
		return *key
	}
	return nil
}

// NeedLeaderElection lets every replica read the key.
func (k *Keeper) NeedLeaderElection() bool { return false }

// Check is a healthz.Checker: it fails until the Secret was read or is known to be absent.
// Until then, failed audits of an environment could not be matched.
func (k *Keeper) Check(*http.Request) error {
	if !k.read.Load() {
		return fmt.Errorf("secret %s has not been read yet", SecretName)
	}
	return nil
}

// Start reads the key until ctx ends.
func (k *Keeper) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.Load(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Info("Could not read the key of environments", "problem", err.Error())
		}
		pause := every
		if !k.read.Load() {
			pause = soon
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// Load reads the key, or creates it.
func (k *Keeper) Load(ctx context.Context) error {
	var secret corev1.Secret
	err := k.Live.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: SecretName}, &secret)
	if apierrors.IsNotFound(err) && k.Writer != nil {
		key := make([]byte, keyBytes)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		secret = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: SecretName}, Data: map[string][]byte{entry: key}}
		if err = k.Writer.Create(ctx, &secret); apierrors.IsAlreadyExists(err) {
			err = k.Live.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: SecretName}, &secret)
		}
	}
	if err == nil || apierrors.IsNotFound(err) {
		k.read.Store(true)
	}
	if err != nil {
		return fmt.Errorf("secret %s: %w", SecretName, err)
	}
	key := secret.Data[entry]
	if len(key) < keyBytes {
		return fmt.Errorf("secret %s: entry %q has %d bytes, want %d or more: delete the Secret, and the manager makes another", SecretName, entry, len(key), keyBytes)
	}
	k.key.Store(&key)
	return nil
}
