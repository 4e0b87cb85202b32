//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	ocireg "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// document is a manifest as it is, which no client of a registry would build.
type document struct {
	mediaType types.MediaType
	body      []byte
}

func (d document) RawManifest() ([]byte, error)        { return d.body, nil }
func (d document) MediaType() (types.MediaType, error) { return d.mediaType, nil }

// putDocument puts a manifest under a tag of the registry, and returns its digest.
func putDocument(ctx context.Context, image string, d document) string {
	GinkgoHelper()
	tag, err := name.NewTag(image)
	Expect(err).NotTo(HaveOccurred())
	Expect(remote.Put(tag, d, remote.WithContext(ctx))).To(Succeed())
	return digestOf(ctx, image)
}

func encoded(value any) []byte {
	GinkgoHelper()
	body, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	return body
}

// polyglot puts an image that runs as from, whose config is at once the manifest of an
// image that runs as evil. It returns the digest of that config.
func polyglot(ctx context.Context, from, evil, to string) string {
	GinkgoHelper()
	honest, hostile := relabelled(ctx, from, to), relabelled(ctx, evil, to)
	target, err := name.NewTag(registry + "/mcpaudit/" + to)
	Expect(err).NotTo(HaveOccurred())
	for _, image := range []v1.Image{hostile, honest} { // so that the repository has their layers
		Expect(remote.Write(target, image, remote.WithContext(ctx))).To(Succeed())
	}
	raw, err := honest.RawConfigFile()
	Expect(err).NotTo(HaveOccurred())
	var config map[string]any
	Expect(json.Unmarshal(raw, &config)).To(Succeed())
	manifest, err := hostile.Manifest()
	Expect(err).NotTo(HaveOccurred())
	config["schemaVersion"], config["mediaType"], config["layers"] = 2, types.DockerManifestSchema2, manifest.Layers
	inner := config["config"].(map[string]any)
	inner["mediaType"], inner["digest"], inner["size"] = manifest.Config.MediaType, manifest.Config.Digest, manifest.Config.Size
	blob := static.NewLayer(encoded(config), types.DockerConfigJSON)
	Expect(remote.WriteLayer(target.Repository, blob, remote.WithContext(ctx))).To(Succeed())

	outer, err := honest.Manifest()
	Expect(err).NotTo(HaveOccurred())
	outer = outer.DeepCopy()
	outer.Config.Size = int64(len(encoded(config)))
	outer.Config.Digest, err = blob.Digest()
	Expect(err).NotTo(HaveOccurred())
	putDocument(ctx, target.String(), document{outer.MediaType, encoded(outer)})
	return putDocument(ctx, target.String()+"-evil", document{types.DockerManifestSchema2, encoded(config)})
}

var _ = Describe("Images made to deceive", func() {
	It("S1: pass by the manifest that was run, and not by an index that has another one for some nodes", func(ctx context.Context) {
		policy := gate(ctx)
		tag := "twofold:" + namespace
		target, err := name.NewTag(registry + "/mcpaudit/" + tag)
		Expect(err).NotTo(HaveOccurred())
		decoy := relabelled(ctx, "leaky-go:dev", tag)
		Expect(remote.WriteIndex(target, mutate.AppendManifests(empty.Index,
			mutate.IndexAddendum{Add: decoy, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64", Variant: "v9"}}},
			mutate.IndexAddendum{Add: relabelled(ctx, "honest-go:dev", tag), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		), remote.WithContext(ctx))).To(Succeed())
		audit := settled(ctx, newAudit(tag))
		expectPass(audit)
		Expect(condition(audit, v1alpha1.ConditionImageAmbiguous).Message).To(ContainSubstring("image: " + audit.Status.Audited.Pin()))
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		awaitAdmitted(ctx, pod(audit.Status.Audited.Pin()))
		digest, err := decoy.Digest()
		Expect(err).NotTo(HaveOccurred())
		for _, image := range []string{byDigest(audit), audit.Spec.Server.Image, registry + "/mcpaudit/twofold@" + digest.String()} {
			awaitDenied(ctx, pod(image))
		}
		Expect(asking().create(ctx, pod(byDigest(audit))).err).To(MatchError(ContainSubstring(string(audit.Status.Audited.Digests[0]))))
	})

	It("S3: do not pass by a config that is a manifest as well", func(ctx context.Context) {
		policy := gate(ctx)
		tag := "polyglot:" + namespace
		config := polyglot(ctx, "honest-go:dev", "leaky-go:dev", tag)
		audit := settled(ctx, newAudit(tag))
		expectPass(audit)
		Expect(audit.Status.Audited.ImageID).To(BeEquivalentTo(config))
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		awaitAdmitted(ctx, pod(audit.Status.Audited.Pin()))
		awaitDenied(ctx, pod(registry+"/mcpaudit/polyglot@"+config))
	})

	It("S3: are not audited if they are a manifest and an index", func(ctx context.Context) {
		tag := "manifold:" + namespace
		target := registry + "/mcpaudit/" + tag
		relabelTag(ctx, "honest-go:dev", tag, tag)
		reference, err := name.NewTag(target)
		Expect(err).NotTo(HaveOccurred())
		found, err := remote.Get(reference, remote.WithContext(ctx))
		Expect(err).NotTo(HaveOccurred())
		var both map[string]any
		Expect(json.Unmarshal(found.Manifest, &both)).To(Succeed())
		both["manifests"] = []any{}
		putDocument(ctx, target, document{found.MediaType, encoded(both)})
		expectInconclusive(settled(ctx, newAudit(tag)), report.ReasonImagePullFailed, "ambiguous")
	})
})

// serveTwoFaces serves a registry in which the tag names good to the operator, and evil
// to everybody else.
func serveTwoFaces(good, evil string) {
	GinkgoHelper()
	images := ocireg.New(ocireg.Logger(log.New(GinkgoWriter, "", 0)))
	serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/manifests/faces") {
			face := evil
			if strings.Contains(r.UserAgent(), "go-containerregistry") {
				face = good
			}
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "faces") + face
		}
		images.ServeHTTP(w, r)
	}))
}
