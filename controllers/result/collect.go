package result

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

var (
	// ErrNoSummary means that the runner's termination message is no summary.
	ErrNoSummary = errors.New("the runner left no summary")
	// ErrNoReport means that the log is missing or lacks the report that the summary announces.
	// It may pass, as logs can lag behind the end of a container.
	ErrNoReport = errors.New("the report could not be read from the log of the runner")
)

// Logs opens the log of a container.
type Logs interface {
	Open(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
}

// maxLog bounds a log in bytes: the runner prints little besides its report.
const maxLog = 8 << 20

// Collected is the result of an audit Pod.
type Collected struct {
	Summary report.Summary
	// Report is set only if its digest matches the summary's.
	Report report.Report
}

// Collect reads the summary and the report of a Finished Pod. With ErrNoReport the summary is
// set.
func Collect(ctx context.Context, logs Logs, pod *corev1.Pod) (Collected, error) {
	runner := view{pod: pod}.terminated(podspec.ContainerRunner)
	if runner == nil {
		return Collected{}, fmt.Errorf("%w: it has not ended", ErrNoSummary)
	}
	summary, err := report.DecodeSummary([]byte(runner.Message))
	if err == nil {
		err = checkDigests(summary.ManifestDigest, nil)
	}
	if err != nil {
		return Collected{}, fmt.Errorf("%w: %w", ErrNoSummary, err)
	}
	collected := Collected{Summary: summary}
	encoded, err := read(ctx, logs, pod)
	if err != nil {
		return collected, fmt.Errorf("%w: %w", ErrNoReport, err)
	}
	if sum := report.Sum(encoded); sum != summary.SHA256 {
		return collected, fmt.Errorf("%w: it has digest %s, announced was %s", ErrNoReport, sum, summary.SHA256)
	}
	decoded, err := report.Decode(encoded)
	if err == nil {
		err = checkDigests(decoded.ManifestDigest, decoded.Manifest.Tools)
	}
	if err != nil {
		return collected, fmt.Errorf("%w: %w", ErrNoReport, err)
	}
	collected.Report = decoded
	return collected, nil
}

// checkDigests rejects digests that the status schema would reject, with the verdict.
func checkDigests(manifest string, tools []report.Item) error {
	if manifest != "" && !report.IsDigest(manifest) {
		return fmt.Errorf("check manifest: %q is no digest", manifest)
	}
	for _, tool := range tools {
		if !report.IsDigest(tool.Digest) {
			return fmt.Errorf("check manifest: %q is no digest of tool %q", tool.Digest, tool.Name)
		}
	}
	return nil
}

func read(ctx context.Context, logs Logs, pod *corev1.Pod) ([]byte, error) {
	log, err := logs.Open(ctx, pod.Namespace, pod.Name, podspec.ContainerRunner)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	return report.ReadFrame(io.LimitReader(log, maxLog))
}

// ServerOutOfMemory reports whether the server was OOM-killed, which the runner sees only as a
// kill.
func ServerOutOfMemory(pod *corev1.Pod) bool {
	server := view{pod: pod}.terminated(podspec.ContainerServer)
	return server != nil && server.Reason == "OOMKilled"
}

// ImageID is the server's image as reported by the kubelet; zero if not reported yet.
type ImageID struct {
	Digest v1alpha1.Digest
	// InRepository means that Digest names a manifest or an index, not the config of an image
	// that was never in a registry.
	InRepository bool
}

// ReadImageID returns the image ID in the status of the server's container.
func ReadImageID(pod *corev1.Pod) ImageID {
	status := view{pod: pod}.container(podspec.ContainerServer)
	if status == nil {
		return ImageID{}
	}
	return ParseImageID(status.ImageID)
}

// imageID matches the end of ContainerStatus.ImageID: "docker-pullable://repo@sha256:...",
// "repo@sha256:...", "docker://sha256:..." or a digest alone.
var imageID = regexp.MustCompile(`(^|[@/])(sha256:[0-9a-f]{64})$`)

// ParseImageID parses an image ID as reported by a kubelet.
func ParseImageID(id string) ImageID {
	found := imageID.FindStringSubmatch(id)
	if found == nil {
		return ImageID{}
	}
	return ImageID{Digest: v1alpha1.Digest(found[2]), InRepository: found[1] == "@"}
}

// PodLogs implements Logs with the API server.
type PodLogs struct{ Client kubernetes.Interface }

// Open implements Logs.
func (l PodLogs) Open(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	options := &corev1.PodLogOptions{Container: container}
	stream, err := l.Client.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("stream log of %s/%s: %w", namespace, pod, err)
	}
	return stream, nil
}
