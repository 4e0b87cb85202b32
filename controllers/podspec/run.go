package podspec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Labels of everything in the run namespace. ManagedBy selects what the manager caches; UID
// selects the objects of one audit.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "mcpaudit"
	LabelUID       = "mcpaudit.dev/audit-uid"
	LabelRun       = "mcpaudit.dev/run"
	// LabelNetwork selects Pods whose egress the network policies allow: network Allow, or a remote server.
	LabelNetwork  = "mcpaudit.dev/network"
	NetworkAllow  = "Allow"
	NetworkRemote = "Remote"
	// LabelNamespace and labelName are informational: names may be cut.
	LabelNamespace = "mcpaudit.dev/audit-namespace"
	labelName      = "mcpaudit.dev/audit-name"

	annotationRun = "mcpaudit.dev/run-record"
)

// maxLabel is the length limit of label values and run names.
const maxLabel = 63

// ErrNoRecord means that Build did not make the Pod.
var ErrNoRecord = errors.New("pod has no record of its run")

// Run is one run of an MCPServerAudit. It is recorded on the Pod, so a manager can resume it
// after a restart.
type Run struct {
	// Name is the name of the Pod and of the report.
	Name string `json:"name"`
	// Previous is the run in the status when this one began. Only a Pod that follows the status
	// is in progress: leftovers of earlier runs, such as on a lost node, are not read again.
	Previous string `json:"previous,omitempty"`
	// Audit is the audited object.
	Audit types.NamespacedName `json:"audit"`
	// Generation and SpecDigest are those of the audited spec.
	Generation int64           `json:"generation"`
	SpecDigest v1alpha1.Digest `json:"specDigest"`
	// Requested is the annotation value that triggered the run.
	Requested string `json:"requested,omitempty"`
	// Reason and Message are why the run was started.
	Reason  v1alpha1.TriggerReason `json:"reason"`
	Message string                 `json:"message"`
	// ImageDigest is the digest of the server's image; empty if only the kubelet can resolve
	// it.
	ImageDigest v1alpha1.Digest `json:"imageDigest,omitempty"`
	// Ambiguous says why container runtimes could run another image for that digest; empty if
	// none can.
	Ambiguous string `json:"ambiguous,omitempty"`
	// CodeLoaded is the variable of the spec that makes the server load code which its image
	// alone would not; empty if there is none.
	CodeLoaded string `json:"codeLoaded,omitempty"`
	// SearchPaths are the code paths in the image's variables.
	SearchPaths []string `json:"searchPaths,omitempty"`
	// Audited describes what runs, for the status: the image and command of the spec, and the
	// platform, digests and command line by the registry. It has no findings, and is empty in a
	// record of an older manager.
	Audited v1alpha1.AuditedServer `json:"audited,omitzero"`
}

// Name derives a deterministic run name, so deciding twice makes no second Pod. It includes the
// previous run, as the annotation may alternate between two values.
func Name(audit *v1alpha1.MCPServerAudit, requested string) string {
	key := sha256.Sum256([]byte(string(audit.UID) + "\n" + strconv.FormatInt(audit.Generation, 10) + "\n" + requested + "\n" + Previous(audit)))
	const keyLength = 20 // 80 bits: no tenant can vary the annotation to match another run's name
	readable := strings.ReplaceAll(audit.Name, ".", "-")
	readable = strings.TrimRight(readable[:min(len(readable), maxLabel-keyLength-1)], "-")
	return readable + "-" + hex.EncodeToString(key[:])[:keyLength]
}

// Previous returns the run in the status; empty if there is none.
func Previous(audit *v1alpha1.MCPServerAudit) string {
	if audit.Status.Trigger == nil {
		return ""
	}
	return audit.Status.Trigger.Run
}

// ReadRun returns the record on a Pod.
func ReadRun(pod *corev1.Pod) (Run, error) {
	record, ok := pod.Annotations[annotationRun]
	if !ok {
		return Run{}, ErrNoRecord
	}
	var run Run
	if err := json.Unmarshal([]byte(record), &run); err != nil {
		return Run{}, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	return run, nil
}

// Labels returns the labels of everything that belongs to an audit.
func Labels(audit *v1alpha1.MCPServerAudit) map[string]string {
	return map[string]string{
		LabelManagedBy: ManagedBy,
		LabelUID:       string(audit.UID),
		LabelNamespace: audit.Namespace,
		labelName:      strings.TrimRight(audit.Name[:min(len(audit.Name), maxLabel)], "-."),
	}
}
