//go:build envtest

package testenv

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
	"github.com/mcpaudit/mcpaudit/test/poll"
	"github.com/mcpaudit/mcpaudit/test/tree"
)

// The operator's namespaces and the audit Pods'.
const (
	SystemNamespace = options.SystemNamespace
	RunNamespace    = options.RunNamespace
)

// API and Config reach the API server of a Ginkgo suite, of which a process has one.
var (
	API    client.Client
	Config *rest.Config
)

// RunSpecs runs the specs of a package, and shows the log of failures. Only failing specs wait
// as long as Eventually allows, so that is generous.
func RunSpecs(t *testing.T, title string) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	gomega.SetDefaultEventuallyTimeout(poll.Patience)
	gomega.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	log.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(ginkgo.GinkgoWriter, nil)))
	ginkgo.RunSpecs(t, title)
}

// Begin starts the API server of a suite, with both namespaces and the manifests of config/rbac
// and other folders, and stops it afterwards.
func Begin(ctx context.Context, folders ...string) (client.Client, *rest.Config) {
	ginkgo.GinkgoHelper()
	cluster := Start(ginkgo.GinkgoTB())
	API, Config = cluster.Client, cluster.Config
	gomega.Expect(API.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: RunNamespace}})).To(gomega.Succeed())
	gomega.Expect(cluster.Install(ctx, tree.Path("."), append([]string{"rbac"}, folders...)...)).To(gomega.Succeed())
	return API, Config
}

// Manifests returns the objects of a folder of config, built by kustomize.
func Manifests(ctx context.Context, folder string) []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	objects, err := controlplane.Kustomize(ctx, tree.Path("config/"+folder))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return objects
}

// Decode parses YAML documents.
func Decode(text string) []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	objects, err := controlplane.Decode([]byte(text))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return objects
}

// Create creates the objects in a YAML text.
func Create(ctx context.Context, text string) []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	objects := Decode(text)
	for _, object := range objects {
		gomega.Expect(API.Create(ctx, object)).To(gomega.Succeed())
	}
	return objects
}

// Remove deletes an object and waits until it is gone.
func Remove(ctx context.Context, object client.Object) {
	ginkgo.GinkgoHelper()
	gomega.Expect(client.IgnoreNotFound(API.Delete(ctx, object))).To(gomega.Succeed())
	Eventually(ctx, func(g gomega.Gomega) {
		g.Expect(apierrors.IsNotFound(API.Get(ctx, client.ObjectKeyFromObject(object), object))).To(gomega.BeTrue())
	})
}

// Namespace creates a namespace for one spec and returns its name.
func Namespace(ctx context.Context, labels map[string]string) string {
	ginkgo.GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-", Labels: labels}}
	gomega.Expect(API.Create(ctx, namespace)).To(gomega.Succeed())
	return namespace.Name
}

// Manager returns a manager that acts as a service account of config/rbac.
func Manager(account string, options ctrl.Options) ctrl.Manager {
	ginkgo.GinkgoHelper()
	as := rest.CopyConfig(Config)
	as.Impersonate.UserName = "system:serviceaccount:" + SystemNamespace + ":" + account
	options.Scheme, options.Metrics = API.Scheme(), metricsserver.Options{BindAddress: "0"}
	options.Controller = crconfig.Controller{SkipNameValidation: new(true)} // one process starts several
	manager, err := ctrl.NewManager(as, options)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return manager
}

// Run runs managers until stop is called.
func Run(ctx context.Context, managers ...ctrl.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for _, manager := range managers {
		running.Go(func() {
			defer ginkgo.GinkgoRecover()
			gomega.Expect(manager.Start(ctx)).To(gomega.Succeed())
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// Eventually polls until a check succeeds.
func Eventually(ctx context.Context, check func(gomega.Gomega)) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(ctx, check).Should(gomega.Succeed())
}

// Passes returns the number of reconciliations of this process, and of failed ones.
func Passes() (all, failed float64) {
	ginkgo.GinkgoHelper()
	families, err := metrics.Registry.Gather()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, family := range families {
		for _, m := range family.GetMetric() {
			switch family.GetName() {
			case "controller_runtime_reconcile_total":
				all += m.GetCounter().GetValue()
			case "controller_runtime_reconcile_errors_total":
				failed += m.GetCounter().GetValue()
			}
		}
	}
	return all, failed
}
