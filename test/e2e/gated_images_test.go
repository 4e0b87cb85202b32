//go:build e2e

package e2e

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// relabelled is an image of the registry with one more label, and so another digest.
func relabelled(ctx context.Context, from, label string) v1.Image {
	GinkgoHelper()
	source, err := name.ParseReference(registry + "/mcpaudit/" + from)
	Expect(err).NotTo(HaveOccurred())
	image, err := remote.Image(source, remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	file, err := image.ConfigFile()
	Expect(err).NotTo(HaveOccurred())
	config := *file.Config.DeepCopy()
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}
	config.Labels["example.com/variant"] = label
	image, err = mutate.Config(image, config)
	Expect(err).NotTo(HaveOccurred())
	return image
}

// digestOf returns what a tag of the registry names.
func digestOf(ctx context.Context, image string) string {
	GinkgoHelper()
	reference, err := name.ParseReference(image)
	Expect(err).NotTo(HaveOccurred())
	found, err := remote.Head(reference, remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	return found.Digest.String()
}

// relabelTag pushes an image under another tag, with another digest.
func relabelTag(ctx context.Context, from, to, label string) {
	GinkgoHelper()
	target, err := name.NewTag(registry + "/mcpaudit/" + to)
	Expect(err).NotTo(HaveOccurred())
	Expect(remote.Write(target, relabelled(ctx, from, label), remote.WithContext(ctx))).To(Succeed())
}

// pushIndex pushes an image for two platforms: one's server for amd64, another's for
// arm64. It returns the digest of the second.
func pushIndex(ctx context.Context, amd64, arm64, to string) string {
	GinkgoHelper()
	target, err := name.NewTag(registry + "/mcpaudit/" + to)
	Expect(err).NotTo(HaveOccurred())
	other := relabelled(ctx, arm64, to)
	file, err := other.ConfigFile()
	Expect(err).NotTo(HaveOccurred())
	file = file.DeepCopy()
	file.Architecture = "arm64"
	other, err = mutate.ConfigFile(other, file)
	Expect(err).NotTo(HaveOccurred())
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: relabelled(ctx, amd64, to), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}})
	Expect(remote.WriteIndex(target, index, remote.WithContext(ctx))).To(Succeed())
	digest, err := other.Digest()
	Expect(err).NotTo(HaveOccurred())
	return digest.String()
}

// asYAML is an object as a person would apply it.
func asYAML(object client.Object) string {
	GinkgoHelper()
	kinds, _, err := k8s.Scheme().ObjectKinds(object)
	Expect(err).NotTo(HaveOccurred())
	object = object.DeepCopyObject().(client.Object)
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	text, err := yaml.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
