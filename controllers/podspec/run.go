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

// The labels of everything in the run namespace. A selector on ManagedBy
// restricts the manager's cache; UID finds what belongs to one audit.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "mcpaudit"
	LabelUID       = "mcpaudit.dev/audit-uid"
	LabelRun       = "mcpaudit.dev/run"
	// LabelNetwork selects Pods whose egress the network policies allow: network Allow, or a remote server.
	LabelNetwork  = "mcpaudit.dev/network"
	NetworkAllow  = "Allow"
	NetworkRemote = "Remote"
	// LabelNamespace and labelName are for people: a name may be cut.
	LabelNamespace = "mcpaudit.dev/audit-namespace"
	labelName      = "mcpaudit.dev/audit-name"

	annotationRun = "mcpaudit.dev/run-record"
)

// maxLabel is the most bytes of a label value, and of a run's name.
const maxLabel = 63

// ErrNoRecord says that the Pod is not one that Build made.
var ErrNoRecord = errors.New("pod has no record of its run")

// Run is one audit of one MCPServerAudit. It is recorded on the Pod, so that a
// manager that starts in the middle of it knows all that it has to.
type Run struct {
	// Name of the Pod and of the report.
	Name string `json:"name"`
	// Previous is the name of the run whose outcome was in the status when this
	// one began. Only a Pod that follows on the status is in progress: one that is
	// left of an earlier run, such as on a node that is gone, is not read again.
	Previous string `json:"previous,omitempty"`
	// Audit is whose run it is.
	Audit types.NamespacedName `json:"audit"`
	// Generation and SpecDigest are of the spec that is audited.
	Generation int64           `json:"generation"`
	SpecDigest v1alpha1.Digest `json:"specDigest"`
	// Requested is the value of the annotation that the run answers.
	Requested string `json:"requested,omitempty"`
	// Reason and Message are why the run is made.
	Reason  v1alpha1.TriggerReason `json:"reason"`
	Message string                 `json:"message"`
	// ImageDigest is the digest that the server's image was resolved to; empty
	// if only the kubelet can tell.
	ImageDigest v1alpha1.Digest `json:"imageDigest,omitempty"`
	// Ambiguous says why container runtimes could run another image by that digest than
	// was run; empty if they do not.
	Ambiguous string `json:"ambiguous,omitempty"`
	// CodeLoaded says which variable of the spec makes the server load code that its image
	// does not have it load; empty if none does.
	CodeLoaded string `json:"codeLoaded,omitempty"`
	// SearchPaths are where programs look for code by the image's variables.
	SearchPaths []string `json:"searchPaths,omitempty"`
	// Audited describes what is run, for the status: the image and the command of the spec, the
	// platform, digests and command line that the registry's answer makes of them. It has
	// no findings, and nothing in a record of an older manager.
	Audited v1alpha1.AuditedServer `json:"audited,omitzero"`
}

// Name derives the name of a run from what makes it different from others, so
// that deciding twice makes no second Pod. The run before is part of it: the
// annotation may go back and forth between two values.
func Name(audit *v1alpha1.MCPServerAudit, requested string) string {
	key := sha256.Sum256([]byte(string(audit.UID) + "\n" + strconv.FormatInt(audit.Generation, 10) + "\n" + requested + "\n" + Previous(audit)))
	const keyLength = 20 // 80 bits: a tenant who varies the annotation finds no name of another run
	readable := strings.ReplaceAll(audit.Name, ".", "-")
	readable = strings.TrimRight(readable[:min(len(readable), maxLabel-keyLength-1)], "-")
	return readable + "-" + hex.EncodeToString(key[:])[:keyLength]
}

// Previous is the name of the run whose outcome is in the status; empty if none is.
func Previous(audit *v1alpha1.MCPServerAudit) string {
	if audit.Status.Trigger == nil {
		return ""
	}
	return audit.Status.Trigger.Run
}

// ReadRun returns the record that Build left on a Pod.
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
