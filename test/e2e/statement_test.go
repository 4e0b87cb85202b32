//go:build e2e

package e2e

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The Secret is the one that test/e2e/operator.yaml names. Other specs have audits at
// the same time, to which it makes no difference.
var _ = Describe("The statement of an audit", func() {
	It("is about the image as it was run, and signed once there is a key", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-node:dev"))
		expectPass(audit)
		annotations := reportOf(ctx, audit).Annotations
		Expect(annotations).NotTo(HaveKey(v1alpha1.AttestationAnnotation))
		var plain statement.Statement
		Expect(json.Unmarshal([]byte(annotations[v1alpha1.StatementAnnotation]), &plain)).To(Succeed())
		Expect(plain.About(string(audit.Status.ImageDigest))).To(BeTrue())
		awaitEvent(ctx, "MCPServerAudit", audit.Name, "there is no such Secret")

		_, private, err := ed25519.GenerateKey(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		der, err := x509.MarshalPKCS8PrivateKey(private)
		Expect(err).NotTo(HaveOccurred())
		encoded := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		key, err := statement.ReadPrivateKey(encoded, nil)
		Expect(err).NotTo(HaveOccurred())
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: "mcpaudit-attestation-key"}, Data: map[string][]byte{"cosign.key": encoded},
		}
		Expect(k8s.Create(ctx, secret)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(k8s.Delete(ctx, secret)).To(Succeed()) })

		rerun(ctx, audit)
		envelope, err := statement.Decode([]byte(reportOf(ctx, audit).Annotations[v1alpha1.AttestationAnnotation]))
		Expect(err).NotTo(HaveOccurred())
		signed, err := envelope.Verify(key.Public())
		Expect(err).NotTo(HaveOccurred())
		Expect(signed.About(string(audit.Status.ImageDigest))).To(BeTrue())
		Expect(signed.Subject[0].Name).To(Equal(registry + "/mcpaudit/honest-node"))
		p := signed.Predicate
		Expect(p.Verdict).To(Equal(report.VerdictPass))
		Expect(p.Complete).To(BeTrue())
		Expect(p.Image.KnownBy).To(Equal(statement.KnownByOperator))
		Expect(strings.Join(p.Server.Command, " ")).To(HavePrefix("node "), "the image's own entrypoint")
		Expect(p.ManifestDigest).To(BeEquivalentTo(audit.Status.ManifestDigest))
		Expect(p.Coverage.Tools.Accepted).To(Equal(1))
	})
})
