//go:build envtest

package audit_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	attestation "github.com/mcpaudit/mcpaudit/controllers/statement"
)

const keySecret = "mcpaudit-attestation-key"

// attester reads the key with the rights that the manager has.
func attester(secret string) *attestation.Attester {
	GinkgoHelper()
	asManager := rest.CopyConfig(config)
	asManager.Impersonate.UserName = "system:serviceaccount:mcpaudit-system:mcpaudit-manager"
	live, err := client.New(asManager, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return &attestation.Attester{Live: live, Namespace: "mcpaudit-system", Secret: secret, Namespaces: []string{attestation.AllNamespaces}}
}

// newKey makes a key, and what verifies it.
func newKey() ([]byte, *statement.PublicKey) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	encoded := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	private, err := statement.ReadPrivateKey(encoded, nil)
	Expect(err).NotTo(HaveOccurred())
	return encoded, private.Public()
}

// keep has the Secret of the key hold this, and nothing else.
func keep(ctx context.Context, data map[string][]byte) {
	GinkgoHelper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-system", Name: keySecret}}
	Expect(client.IgnoreNotFound(api.Delete(ctx, secret))).To(Succeed())
	if data == nil {
		return
	}
	secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-system", Name: keySecret}, Data: data}
	Expect(api.Create(ctx, secret)).To(Succeed())
}

// lastReport is the report of the last audit.
func (b *bench) lastReport(ctx context.Context) *v1alpha1.MCPAuditReport {
	GinkgoHelper()
	last := &v1alpha1.MCPAuditReport{}
	Expect(api.Get(ctx, client.ObjectKey{Namespace: b.key.Namespace, Name: b.audit(ctx).Status.ReportRef.Name}, last)).To(Succeed())
	return last
}

var _ = Describe("The statement of an audit", Serial, func() {
	It("is unsigned without a key, and about the image that was run", func(ctx SpecContext) {
		b := newBench(ctx)
		b.Attester = attester("")
		b.audited(ctx, clean(leaks))
		annotations := b.lastReport(ctx).Annotations
		Expect(annotations).NotTo(HaveKey(v1alpha1.AttestationAnnotation))
		var s statement.Statement
		Expect(json.Unmarshal([]byte(annotations[v1alpha1.StatementAnnotation]), &s)).To(Succeed())
		Expect(s.About(sha("a"))).To(BeTrue())
		Expect(s.About(sha("c"))).To(BeFalse(), "the digest of the config")
		Expect(s.Subject[0].Name).To(Equal("registry.example/notes"))
		Expect(s.Predicate.Verdict).To(Equal(report.VerdictFail))
		Expect(s.Predicate.Findings.High).To(Equal(2))
		Expect(s.Predicate.Image).To(Equal(statement.Audited{Reference: "registry.example/notes:v1", KnownBy: statement.KnownByOperator}))
		Expect(b.events.list()).NotTo(ContainElement(HavePrefix("NotSigned")))
		Expect(s.Predicate.Audit).To(Equal(&statement.Audit{Namespace: b.key.Namespace, Name: b.key.Name, UID: string(b.audit(ctx).UID)}))
	})

	It("is signed with the key of the Secret, and with the next one from the next audit on", func(ctx SpecContext) {
		first, verifies := newKey()
		keep(ctx, map[string][]byte{"cosign.key": first})
		DeferCleanup(keep, map[string][]byte(nil))
		b := newBench(ctx)
		b.Attester = attester(keySecret)
		b.audited(ctx, clean())
		old := b.lastReport(ctx)
		Expect(old.Annotations).NotTo(HaveKey(v1alpha1.StatementAnnotation))
		envelope, err := statement.Decode([]byte(old.Annotations[v1alpha1.AttestationAnnotation]))
		Expect(err).NotTo(HaveOccurred())
		s, err := envelope.Verify(verifies)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Predicate.Verdict).To(Equal(report.VerdictPass))

		By("another key")
		second, verifiesNext := newKey()
		keep(ctx, map[string][]byte{"cosign.key": second})
		b.request(ctx, "again")
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(func(r *report.Report) {
			r.Verdict, r.Reason, r.Incomplete = report.VerdictInconclusive, report.ReasonTimeout, &report.Incomplete{Reason: report.ReasonTimeout}
		}))
		b.reconcile(ctx)
		envelope, err = statement.Decode([]byte(b.lastReport(ctx).Annotations[v1alpha1.AttestationAnnotation]))
		Expect(err).NotTo(HaveOccurred())
		_, err = envelope.Verify(verifies)
		Expect(err).To(MatchError(statement.ErrBadSignature))
		s, err = envelope.Verify(verifiesNext)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Predicate.Verdict).To(Equal(report.VerdictInconclusive))
		Expect(s.Predicate.Complete).To(BeFalse())
	})

	DescribeTable("says why it is not signed, and the audit goes on", func(ctx SpecContext, name string, data map[string][]byte, why string) {
		keep(ctx, data)
		DeferCleanup(keep, map[string][]byte(nil))
		b := newBench(ctx)
		b.Attester = attester(name)
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		Expect(b.lastReport(ctx).Annotations).To(And(HaveKey(v1alpha1.StatementAnnotation), Not(HaveKey(v1alpha1.AttestationAnnotation))))
		Expect(b.events.list()).To(ContainElement(And(HavePrefix("NotSigned: "), ContainSubstring(why))))
	},
		Entry("there is no Secret", keySecret, nil, "there is no such Secret"),
		Entry("no key in it", keySecret, map[string][]byte{"tls.key": nil}, "it has no entry cosign.key"),
		Entry("a broken key", keySecret, map[string][]byte{"cosign.key": []byte("a key")}, "not PEM"),
		Entry("a Secret that may not be read", "another", nil, "grant get on it by a Role"),
	)

	It("is not made of a server that runs elsewhere", func(ctx SpecContext) {
		got, err := attester("").Attest(ctx, report.Report{Server: report.ServerRun{URL: "https://example.com"}}, statement.Image{})
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(attestation.Result{Outcome: attestation.None}))
	})
})
