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
	// ErrNoSummary says that the termination message of the runner is not a summary.
	ErrNoSummary = errors.New("the runner left no summary")
	// ErrNoReport says that the log is not there, or does not hold the report that the
	// summary announces. A log may lag behind the end of its container, so this
	// may pass.
	ErrNoReport = errors.New("the report could not be read from the log of the runner")
)

// Logs opens the log of a container.
type Logs interface {
	Open(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
}

// maxLog is the most bytes of a log that are read: the runner says little
// besides its report.
const maxLog = 8 << 20

// Collected holds what an audit Pod left.
type Collected struct {
	Summary report.Summary
	// Report is only set if its digest is the one of the summary.
	Report report.Report
}

// Collect reads summary and report of a Finished Pod. With ErrNoReport the
// summary is there.
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

// checkDigests refuses what the status has no room for: it would be refused as a
// whole, and the verdict never be seen.
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

// ServerOutOfMemory reports whether the server was killed for its memory, which
// the runner only sees as a kill.
func ServerOutOfMemory(pod *corev1.Pod) bool {
	server := view{pod: pod}.terminated(podspec.ContainerServer)
	return server != nil && server.Reason == "OOMKilled"
}

// ImageID is the server's image as the kubelet reports it. The zero value is for one that
// it does not report yet.
type ImageID struct {
	Digest v1alpha1.Digest
	// InRepository: Digest names a manifest or an index. Otherwise it names the image's
	// config, as for an image that was never in a registry.
	InRepository bool
}

// ReadImageID reads "repository@sha256:..." or "sha256:...", each with or without a
// scheme, from the status of the server's container.
func ReadImageID(pod *corev1.Pod) ImageID {
	status := view{pod: pod}.container(podspec.ContainerServer)
	if status == nil {
		return ImageID{}
	}
	return ParseImageID(status.ImageID)
}

// imageID is how an image ID ends (ContainerStatus.ImageID): "docker-pullable://repo@sha256:...",
// "repo@sha256:...", "docker://sha256:..." or a digest alone.
var imageID = regexp.MustCompile(`(^|[@/])(sha256:[0-9a-f]{64})$`)

// ParseImageID reads the ID of an image as a kubelet reports it.
func ParseImageID(id string) ImageID {
	found := imageID.FindStringSubmatch(id)
	if found == nil {
		return ImageID{}
	}
	return ImageID{Digest: v1alpha1.Digest(found[2]), InRepository: found[1] == "@"}
}

// PodLogs is Logs by the API server.
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
