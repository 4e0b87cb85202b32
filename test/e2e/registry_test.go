//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	ocireg "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// privateAddress is the address at which the nodes of the local cluster reach a registry that
// a test serves (hack/cluster/settings.sh, TEST_REGISTRY).
const privateAddress = "10.77.0.1:5001"

const user, password = "puller", "correct horse"

// servePrivate serves a registry that lets nobody in without the password.
func servePrivate() {
	GinkgoHelper()
	images := ocireg.New(ocireg.Logger(log.New(GinkgoWriter, "", 0)))
	serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
}

// serve serves a registry at privateAddress until the spec ends.
func serve(registry http.Handler) {
	GinkgoHelper()
	listener, err := net.Listen("tcp", privateAddress)
	Expect(err).NotTo(HaveOccurred())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: registry}
	go func() { _ = server.Serve(listener) }() // ends with Close
	DeferCleanup(server.Close)
}

// copyPrivate copies an image of the cluster's registry into the private one.
func copyPrivate(ctx context.Context, image, to string) string {
	GinkgoHelper()
	source, err := name.ParseReference(registry + "/mcpaudit/" + image)
	Expect(err).NotTo(HaveOccurred())
	target, err := name.ParseReference(privateAddress + "/private/" + to)
	Expect(err).NotTo(HaveOccurred())
	copied, err := remote.Image(source, remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	Expect(remote.Write(target, copied, remote.WithContext(ctx),
		remote.WithAuth(&authn.Basic{Username: user, Password: password}))).To(Succeed())
	return target.String()
}

var _ = Describe("A private registry", Ordered, func() { // in one process: it has one address
	private := func(ctx context.Context) string {
		servePrivate()
		return copyPrivate(ctx, "honest-go:dev", "honest-go:dev")
	}

	It("is read with the pull secret of the audit, whose copy is removed", func(ctx context.Context) {
		image := private(ctx)
		credentials := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "pull", Namespace: namespace},
			Type:       corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil,
				`{"auths":{%q:{"auth":%q}}}`, privateAddress, credentials)},
		}
		Expect(k8s.Create(ctx, secret)).To(Succeed())
		audit := newAudit("", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Image = image
			a.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "pull"}}
		})
		Expect(k8s.Create(ctx, audit)).To(Succeed())

		By("running the command that the condition gives: the manager has no access of its own")
		var command string
		await(ctx, audit, func(g Gomega) {
			_, after, found := strings.Cut(condition(audit, v1alpha1.ConditionAuditing).Message, "Allow it: `")
			g.Expect(found).To(BeTrue(), conditions(audit))
			command, _, _ = strings.Cut(after, "`")
		})
		arguments := strings.Fields(command)
		Expect(arguments[0]).To(Equal("kubectl"))
		out, err := exec.CommandContext(ctx, arguments[0], arguments[1:]...).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s: %s", command, out)

		awaitVerdict(ctx, audit)
		expectPass(audit)
		Eventually(secretsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
	})

	It("is refused without one, and the message says so", func(ctx context.Context) {
		image := private(ctx)
		audit := settled(ctx, newAudit("", func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = image }))
		expectInconclusive(audit, report.ReasonImagePullFailed, "imagePullSecrets")
	})

	It("S7: is not run for an audit that may not pull it, whatever the command and the node", func(ctx context.Context) {
		image := private(ctx)
		audit := settled(ctx, newAudit("", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Image, a.Spec.Server.Command = image, []string{"/server"}
		}))
		expectInconclusive(audit, report.ReasonImagePullFailed, "imagePullSecrets")
		Expect(podsOf(ctx, audit)).To(BeEmpty())
	})

	It("S10: gets nothing past the gate that serves nodes another image than the operator", func(ctx context.Context) {
		policy := gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		serveTwoFaces("good", "evil")
		image := strings.TrimSuffix(copyPrivate(ctx, "honest-go:dev", "server:good"), "good") + "faces"
		evil := copyPrivate(ctx, "leaky-go:dev", "server:evil")
		asNode, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+privateAddress+"/v2/private/server/manifests/faces", nil)
		Expect(err).NotTo(HaveOccurred())
		asNode.Header.Set("User-Agent", "containerd/2.1")
		answer, err := http.DefaultClient.Do(asNode)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.Header.Get("Docker-Content-Digest")).To(Equal(digestOf(ctx, evil)), "what nodes get")

		audit := settled(ctx, newAudit("", func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = image }))
		expectPass(audit)
		pinned := audit.Status.Audited.Pin()
		awaitAdmitted(ctx, pod(pinned))
		Expect(asking().create(ctx, pod(image)).err).To(MatchError(ContainSubstring("pin it: image: " + pinned)))
		awaitDenied(ctx, pod(privateAddress+"/private/server@"+digestOf(ctx, evil)))

		By("the API server alone, which knows what passed")
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Gate.Offline = v1alpha1.OfflineRequirePassed })
		Eventually(func() error { return asking().create(ctx, pod(image)).err }).WithContext(ctx).
			Should(MatchError(And(ContainSubstring("mcpaudit-passed"), ContainSubstring("pin it: image: "+pinned))))
		awaitAdmitted(ctx, pod(pinned))
	})
})
