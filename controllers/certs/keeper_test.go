package certs

import (
	"bytes"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// configurationOf has two webhooks, of which the second is somebody's.
func configurationOf(name string, annotations map[string]string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	hook := func(name string) admissionregistrationv1.ValidatingWebhook {
		return admissionregistrationv1.ValidatingWebhook{
			Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://localhost/gate")}, AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone),
		}
	}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName, UID: "1", Annotations: annotations},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{hook(name), hook("somebody.example.com")},
	}
}

func TestKeeper(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	external := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-system", Name: SecretName}, Data: makePlan(t, now, nil, nil).Data}
	empty := &corev1.Secret{ObjectMeta: external.ObjectMeta}
	for name, test := range map[string]struct {
		objects []client.Object
		written bool // the Secret
		told    bool // the API server
	}{
		"nothing is there":                    {nil, true, false},
		"the configuration is there":          {[]client.Object{configurationOf(webhookName, nil)}, true, true},
		"a configuration without the webhook": {[]client.Object{configurationOf("another.example.com", nil)}, true, false},
		"a Secret without anything":           {[]client.Object{empty, configurationOf(webhookName, nil)}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, object := range test.objects {
				objects = append(objects, object.DeepCopyObject().(client.Object))
			}
			api := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).Build()
			recorder := events.NewFakeRecorder(10)
			keeper := &Keeper{
				Client: api, Live: api, Events: recorder, Clock: clocktesting.NewFakePassiveClock(now), Namespace: "mcpaudit-system", Names: names,
			}
			for range 2 { // the second has nothing to do
				result, err := keeper.Reconcile(t.Context(), reconcile.Request{})
				if err != nil || result.RequeueAfter <= 0 {
					t.Fatalf("Reconcile = %v, %v", result, err)
				}
			}
			var secret corev1.Secret
			err := api.Get(t.Context(), client.ObjectKey{Namespace: "mcpaudit-system", Name: SecretName}, &secret)
			if written := len(recorder.Events) == 1; written != test.written || written && err != nil {
				t.Errorf("written %d times: %v", len(recorder.Events), err)
			}
			configuration, err := keeper.configuration(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if told := trusted(configuration); (told != nil) != test.told || test.told && !bytes.Equal(told, secret.Data[caBundleEntry]) {
				t.Errorf("told %q", told)
			}
			if configuration != nil && (len(configuration.Webhooks) != 2 || configuration.Webhooks[1].ClientConfig.CABundle != nil) {
				t.Errorf("somebody's webhook was changed: %+v", configuration.Webhooks)
			}
		})
	}
}

// TestServingKeepsWhatItHas when the Secret cannot be read any more.
func TestServingKeepsWhatItHas(t *testing.T) {
	s := &Serving{}
	if _, err := s.Certificate(nil); err == nil || s.Check(nil) == nil || !s.Expires().IsZero() {
		t.Error("there is a certificate before there is one")
	}
	data := makePlan(t, time.Now(), nil, nil).Data
	s.take(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: SecretName}, Data: data})
	first, err := s.Certificate(nil)
	if err != nil || s.Check(nil) != nil || s.Expires().Before(time.Now()) {
		t.Fatalf("no certificate: %v", err)
	}
	s.take(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: SecretName}})
	s.take(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "another"}, Data: makePlan(t, time.Now(), nil, nil).Data})
	if after, err := s.Certificate(nil); err != nil || after != first {
		t.Errorf("another certificate: %v", err)
	}
}
