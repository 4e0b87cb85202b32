//go:build envtest

package admission_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const systemNamespace = "mcpaudit-system"

var (
	api    client.Client
	config *rest.Config
	store  = index.New()
	// serving is the certificate of the one replica, wall the clock of what keeps it: so
	// far behind that the certificate is due once it is put right.
	serving *certs.Serving
	wall    = clocktesting.NewFakePassiveClock(time.Now().Add(-59 * 24 * time.Hour))
)

func TestAdmission(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The webhook of the gate")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	for _, name := range []string{systemNamespace, "mcpaudit-runs"} {
		Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	install(ctx, "rbac", nil)
	install(ctx, "webhook", func(object *unstructured.Unstructured) {
		if object.GetKind() != "ValidatingWebhookConfiguration" {
			return
		}
		// The API server of the suite reaches no Service, and what fails has to be seen.
		hook := object.Object["webhooks"].([]any)[0].(map[string]any)
		hook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://%s%s", strings.Replace(address, "127.0.0.1", "localhost", 1), admission.Path)}
		hook["failurePolicy"], hook["timeoutSeconds"] = "Fail", int64(20)
	})
	startManagers(address)
	Eventually(ctx, func(g Gomega) {
		g.Expect(store.Check(nil)).To(Succeed())
		g.Expect(serving.Check(nil)).To(Succeed())
		g.Expect(webhookOf(ctx).ClientConfig.CABundle).NotTo(BeEmpty())
	}).WithTimeout(time.Minute).WithPolling(50 * time.Millisecond).Should(Succeed())
})

// as is a manager that acts as a service account of config/rbac.
func as(account string, objects map[client.Object]cache.ByObject) ctrl.Manager {
	GinkgoHelper()
	asAccount := rest.CopyConfig(config)
	asAccount.Impersonate.UserName = "system:serviceaccount:mcpaudit-system:" + account
	manager, err := ctrl.NewManager(asAccount, ctrl.Options{
		Scheme: api.Scheme(), Cache: cache.Options{ByObject: objects}, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: crconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	Expect(err).NotTo(HaveOccurred())
	return manager
}

// startManagers runs the gate as cmd/gate does, and what keeps its certificate as
// cmd/manager does.
func startManagers(address string) {
	GinkgoHelper()
	certificate := as("mcpaudit-manager", certs.CacheOptions(systemNamespace))
	keeper := &certs.Keeper{
		Client: certificate.GetClient(), Live: certificate.GetAPIReader(), Events: recorder.New(certificate.GetClient(), clock.RealClock{}), Clock: wall,
		Namespace: systemNamespace, Names: []string{"localhost"},
	}
	gate := as("mcpaudit-gate", admission.CacheOptions(systemNamespace))
	serving = &certs.Serving{Cache: gate.GetCache()}
	uses := admission.NewUses(gate.GetClient(), recorder.New(gate.GetClient(), clock.RealClock{}), clock.RealClock{})
	handler := &admission.Handler{Index: store, Uses: uses, Clock: clock.RealClock{}, Metrics: metrics.NewGate(prometheus.NewRegistry(), state{})}
	Expect(errors.Join(
		keeper.SetupWithManager(certificate), store.SetupWithManager(gate), gate.Add(serving), gate.Add(uses),
		gate.Add(&admission.Server{Handler: handler, Address: address, Certificate: serving.Certificate}),
	)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, manager := range []ctrl.Manager{certificate, gate} {
		running.Go(func() {
			defer GinkgoRecover()
			Expect(manager.Start(ctx)).To(Succeed())
		})
	}
	DeferCleanup(func() {
		cancel()
		running.Wait()
	})
}

type state struct{}

func (state) Verdicts() int      { return store.Len() }
func (state) Expires() time.Time { return serving.Expires() }

// install makes what a folder of config has.
func install(ctx context.Context, folder string, change func(*unstructured.Unstructured)) {
	GinkgoHelper()
	for _, object := range manifests(ctx, folder) {
		if change != nil {
			change(object)
		}
		Expect(api.Create(ctx, object)).To(Succeed())
	}
}

func manifests(ctx context.Context, folder string) []*unstructured.Unstructured {
	GinkgoHelper()
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	content, err := exec.CommandContext(ctx, kubectl, "kustomize", filepath.Join("..", "..", "config", folder)).Output()
	Expect(err).NotTo(HaveOccurred())
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(content)), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		Expect(err).NotTo(HaveOccurred())
		all = append(all, object)
	}
}

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
