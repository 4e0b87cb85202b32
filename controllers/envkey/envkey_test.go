package envkey_test

import (
	"bytes"
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/controllers/envkey"
)

func TestReplicasShareTheKey(t *testing.T) {
	api := fake.NewClientBuilder().Build()
	gate := &envkey.Keeper{Live: api, Namespace: "system"}
	if err := gate.Load(t.Context()); err == nil || gate.Key() != nil {
		t.Errorf("a reader made a key: %v", err)
	}
	first := &envkey.Keeper{Live: api, Writer: api, Namespace: "system"}
	second := &envkey.Keeper{Live: api, Writer: api, Namespace: "system"}
	for _, k := range []*envkey.Keeper{first, second, gate} {
		if err := k.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(first.Key()) != 32 || !bytes.Equal(first.Key(), second.Key()) || !bytes.Equal(first.Key(), gate.Key()) {
		t.Error("replicas have different keys")
	}
}

func TestShortKey(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: envkey.SecretName}, Data: map[string][]byte{"key": []byte("short")}}
	k := &envkey.Keeper{Live: fake.NewClientBuilder().WithObjects(secret).Build(), Namespace: "system"}
	if err := k.Load(t.Context()); err == nil || k.Key() != nil {
		t.Errorf("a key of 5 bytes was taken: %v", err)
	}
}

// TestR13NotReadyWithoutTheKey: a gate that could not read the key answers nothing, or an
// audit that failed with the environment of a container would not count.
func TestR13NotReadyWithoutTheKey(t *testing.T) {
	away := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return apierrors.NewServiceUnavailable("away")
	}}
	k := &envkey.Keeper{Live: fake.NewClientBuilder().WithInterceptorFuncs(away).Build(), Namespace: "system"}
	if err := k.Load(t.Context()); err == nil || k.Check(nil) == nil {
		t.Errorf("ready without an answer: %v", err)
	}
	k.Live = fake.NewClientBuilder().Build()
	if err := k.Load(t.Context()); err == nil || k.Check(nil) != nil {
		t.Errorf("not ready though there is no key: %v, %v", err, k.Check(nil))
	}
}
