//go:build envtest

package audit_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

var _ = Describe("the metrics", func() {
	It("are for who may read them, as the API server says", func(ctx SpecContext) {
		prometheus, stranger := tokenOf(ctx, "prometheus"), tokenOf(ctx, "stranger")
		Expect(api.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mcpaudit-metrics-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "mcpaudit-system", Name: "prometheus"}},
		})).To(Succeed())
		address := serveMetrics(ctx)
		insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it is self-signed
		get := func(token string) (int, string) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", nil)
			Expect(err).NotTo(HaveOccurred())
			if token != "" {
				request.Header.Set("Authorization", "Bearer "+token)
			}
			response, err := insecure.Do(request)
			if err != nil {
				return 0, err.Error()
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			Expect(err).NotTo(HaveOccurred())
			return response.StatusCode, string(body)
		}
		Eventually(ctx, func() int { status, _ := get(""); return status }).Should(Equal(http.StatusUnauthorized))
		for token, want := range map[string]int{prometheus: http.StatusOK, stranger: http.StatusForbidden, "made up": http.StatusUnauthorized} {
			status, body := get(token)
			Expect(status).To(Equal(want), body)
			if want == http.StatusOK {
				Expect(body).To(ContainSubstring("go_goroutines"))
			}
		}
	})
})

// serveMetrics serves them as the manager does, with its rights.
func serveMetrics(ctx context.Context) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	asManager := rest.CopyConfig(config)
	asManager.Impersonate.UserName = "system:serviceaccount:mcpaudit-system:mcpaudit-manager"
	client, err := rest.HTTPClientFor(asManager)
	Expect(err).NotTo(HaveOccurred())
	server, err := metricsserver.NewServer(metricsserver.Options{
		BindAddress: address, SecureServing: true, FilterProvider: metrics.Access, CertDir: GinkgoT().TempDir(),
	}, asManager, client)
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		Expect(server.Start(ctx)).To(Succeed())
	}()
	DeferCleanup(func() {
		cancel()
		<-done
	})
	return address
}

func tokenOf(ctx context.Context, name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-system", Name: name}}
	Expect(api.Create(ctx, account)).To(Succeed())
	token := &authenticationv1.TokenRequest{}
	Expect(api.SubResource("token").Create(ctx, account, token)).To(Succeed())
	return token.Status.Token
}
