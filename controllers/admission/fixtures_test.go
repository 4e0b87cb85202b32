//go:build envtest

package admission_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var (
	api    client.Client
	config *rest.Config
)

var (
	store = index.New()
	// serving is the certificate of the one replica, wall the clock of what keeps it: so
	// far behind that the certificate is due once it is put right.
	serving *certs.Serving
	wall    = clocktesting.NewFakePassiveClock(time.Now().Add(-61 * 24 * time.Hour))
)

// startGate installs the gate at an address of this machine and waits until it answers.
func startGate(ctx context.Context) {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	for _, object := range testenv.Manifests(ctx, "webhook") {
		if object.GetKind() == "ValidatingWebhookConfiguration" {
			// The API server of the suite reaches no Service, and what fails has to be seen.
			hook := object.Object["webhooks"].([]any)[0].(map[string]any)
			hook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://%s%s", strings.Replace(address, "127.0.0.1", "localhost", 1), admission.Path)}
			hook["failurePolicy"], hook["timeoutSeconds"] = "Fail", int64(20)
		}
		Expect(api.Create(ctx, object)).To(Succeed())
	}
	startManagers(ctx, address)
	testenv.Eventually(ctx, func(g Gomega) {
		g.Expect(store.Check(nil)).To(Succeed())
		g.Expect(serving.Check(nil)).To(Succeed())
		g.Expect(webhookOf(ctx).ClientConfig.CABundle).NotTo(BeEmpty())
	})
}

// startManagers runs the gate as cmd/gate does, and what keeps its certificate as
// cmd/manager does.
func startManagers(ctx context.Context, address string) {
	GinkgoHelper()
	certificate := testenv.Manager("mcpaudit-manager", ctrl.Options{Cache: cache.Options{ByObject: certs.CacheOptions(testenv.SystemNamespace)}})
	keeper := &certs.Keeper{
		Client: certificate.GetClient(), Live: certificate.GetAPIReader(), Events: recorder.New(certificate.GetClient(), clock.RealClock{}), Clock: wall,
		Namespace: testenv.SystemNamespace, Names: []string{"localhost"},
	}
	gate := testenv.Manager("mcpaudit-gate", ctrl.Options{Cache: cache.Options{ByObject: admission.CacheOptions(testenv.SystemNamespace)}})
	serving = &certs.Serving{Cache: gate.GetCache()}
	uses := admission.NewUses(gate.GetClient(), recorder.New(gate.GetClient(), clock.RealClock{}), clock.RealClock{})
	handler := &admission.Handler{Index: store, Uses: uses, Clock: clock.RealClock{}, Metrics: metrics.NewGate(prometheus.NewRegistry(), state{})}
	Expect(errors.Join(
		keeper.SetupWithManager(certificate), store.SetupWithManager(gate), gate.Add(serving), gate.Add(uses),
		gate.Add(&admission.Server{Handler: handler, Address: address, Certificate: serving.Certificate}),
	)).To(Succeed())
	DeferCleanup(testenv.Run(ctx, certificate, gate))
}

type state struct{}

func (state) Verdicts() int      { return store.Len() }
func (state) Expires() time.Time { return serving.Expires() }

func webhookOf(ctx context.Context) admissionregistrationv1.ValidatingWebhook {
	GinkgoHelper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	Expect(api.Get(ctx, client.ObjectKey{Name: certs.ConfigurationName}, &configuration)).To(Succeed())
	return configuration.Webhooks[0]
}

// warnings keeps what the API server warns of.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

// warned is a client whose warnings are kept.
func warned() (client.Client, *warnings) {
	GinkgoHelper()
	kept := &warnings{}
	other := rest.CopyConfig(config)
	other.WarningHandler = kept
	c, err := client.New(other, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c, kept
}
