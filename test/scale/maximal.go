package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maximal is the cost of many suspended audits of one tenant, and of a policy for each ten of them, all as large as
// the API server accepts.
type maximal struct {
	audits, bytes        int // bytes: JSON of one audit, with its status
	foundRSS, restartRSS int // peaks of the manager
	limit                int // of its container
}

// maximalPatience bounds the time for reconciling all of them.
const maximalPatience = 40 * time.Minute

// hoarder is the tenant's namespace.
const hoarder = "hoarder"

// measureMaximal starts a manager for maximal audits that it has never seen, and restarts it.
func measureMaximal(ctx context.Context, s settings, root, binary, dir string) (r maximal, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir = filepath.Join(dir, "maximal")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return r, err
	}
	if err := configure(root, dir, "", s); err != nil {
		return r, err
	}
	c, err := startCluster(ctx, root, dir)
	if err != nil {
		return r, err
	}
	defer func() {
		cancel()
		err = errors.Join(err, c.Stop())
	}()
	if r.limit, err = memoryLimit(root); err != nil {
		return r, err
	}
	r.audits = s.maximal
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := errors.Join(c.Install(ctx, root, "policy/size.yaml"), c.kubeconfig(ctx, kubeconfig)); err != nil {
		return r, err
	}
	if r.bytes, err = createMaximal(ctx, c, r.audits); err != nil {
		return r, err
	}
	for _, peak := range []*int{&r.foundRSS, &r.restartRSS} {
		if *peak, err = peakOf(ctx, binary, kubeconfig, dir, r.audits); err != nil {
			return r, err
		}
	}
	return r, nil
}

// peakOf returns the peak memory of a manager that has reconciled n audits.
func peakOf(ctx context.Context, binary, kubeconfig, dir string, n int) (peak int, err error) {
	m, err := startManager(ctx, binary, kubeconfig, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	if err := m.await(ctx, maximalPatience, idle(float64(n))); err != nil {
		return 0, fmt.Errorf("wait for the work queue: %w", err)
	}
	return m.peakRSS()
}

func createMaximal(ctx context.Context, c *cluster, n int) (bytes int, err error) {
	if err := c.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hoarder}}); err != nil {
		return 0, fmt.Errorf("create namespace: %w", err)
	}
	encoded, err := json.Marshal(newMaximal(0))
	if err != nil {
		return 0, err
	}
	return len(encoded), each(n, func(i int) error {
		audit := newMaximal(i)
		status := audit.Status
		if err := c.Client.Create(ctx, audit); err != nil {
			return fmt.Errorf("create audit: %w", err)
		}
		audit.Status = status
		if err := c.Client.Status().Update(ctx, audit); err != nil {
			return fmt.Errorf("fill status: %w", err)
		}
		if i%10 > 0 {
			return nil
		}
		if err := c.Client.Create(ctx, newMaximalPolicy(i)); err != nil {
			return fmt.Errorf("create policy: %w", err)
		}
		return nil
	})
}

// newMaximalPolicy returns a policy just below the bounds of its CRD, and of all annotations together.
func newMaximalPolicy(i int) *v1alpha1.MCPAuditPolicy {
	policy := &v1alpha1.MCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: hoarder, Name: fmt.Sprintf("large-%05d", i), Annotations: map[string]string{"note": text(200 << 10)}},
		Spec:       v1alpha1.MCPAuditPolicySpec{Gate: v1alpha1.Gate{Mode: v1alpha1.GateAudit}, Match: &v1alpha1.Match{}},
	}
	for range 64 {
		policy.Spec.Match.Images = append(policy.Spec.Match.Images, "registry.example/"+strings.Repeat("x*", 247))
	}
	return policy
}

// newMaximal returns an audit just below the bounds of the CRD, of the policy mcpaudit-size, and
// of all annotations together.
func newMaximal(i int) *v1alpha1.MCPServerAudit {
	audit := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: hoarder, Name: fmt.Sprintf("large-%05d", i), Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: v1alpha1.MCPServerAuditSpec{
			Suspend: true, Server: v1alpha1.Server{Image: "registry.example/large:v1"},
			Probe: v1alpha1.Probe{Inputs: []v1alpha1.ToolInput{{Tool: "a", Arguments: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"text":%q}`, text(31<<10))}}}},
		},
	}
	for n := range 120 {
		audit.Labels[fmt.Sprintf("label-%03d", n)] = text(63)
	}
	for n := range 200 {
		audit.Annotations[fmt.Sprintf("mcpaudit.dev/note-%03d", n)] = text(1000)
	}
	for n := range 60 {
		audit.Spec.Server.Env = append(audit.Spec.Server.Env, v1alpha1.EnvVar{Name: fmt.Sprintf("VARIABLE_%02d", n), Value: text(450)})
	}
	status := &audit.Status
	status.ObservedGeneration = 1
	for n := range v1alpha1.MaxTools {
		status.Tools = append(status.Tools, v1alpha1.ToolDigest{Name: fmt.Sprintf("%03d", n) + text(60), Digest: v1alpha1.Digest(digest(fmt.Sprint(i, n)))})
	}
	for range v1alpha1.MaxTopFindings {
		status.TopFindings = append(status.TopFindings, v1alpha1.TopFinding{
			Rule: text(64), Severity: "High", Capability: text(96), Message: text(320), Evidence: text(176), Suppressed: text(80),
		})
	}
	drift := &v1alpha1.DriftSummary{}
	for range v1alpha1.MaxDriftItems {
		drift.Added, drift.Removed, drift.Changed = append(drift.Added, text(96)), append(drift.Removed, text(96)), append(drift.Changed, text(96))
	}
	status.Drift = drift
	return audit
}

func text(n int) string { return strings.Repeat("x", n) }

// memoryLimit returns the manager's memory limit in config/manager.
func memoryLimit(root string) (int, error) {
	content, err := os.ReadFile(filepath.Join(root, "config", "manager", "manager.yaml"))
	if err != nil {
		return 0, err
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var deployment struct {
			Kind string `json:"kind"`
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil {
			return 0, fmt.Errorf("read the manager's limit: %w", err)
		}
		for _, c := range deployment.Spec.Template.Spec.Containers {
			if limit := c.Resources.Limits.Memory(); limit.Cmp(resource.MustParse("1Mi")) > 0 && c.Name == "manager" {
				return int(limit.Value()), nil
			}
		}
	}
	return 0, errors.New("config/manager/manager.yaml gives the manager no memory limit")
}

// print prints the result.
func (r maximal) print(out io.Writer) error {
	_, err := fmt.Fprintf(out, "\n%d maximal audits of one tenant, %d KiB each, suspended, and a maximal policy for each ten: peak RSS of the manager %s when it finds them, %s after a restart; its limit is %s\n",
		r.audits, r.bytes>>10, megabytes(r.foundRSS), megabytes(r.restartRSS), megabytes(r.limit))
	return err
}

// check compares the peaks with the limit.
func (r maximal) check() error {
	if peak := max(r.foundRSS, r.restartRSS); peak >= r.limit {
		return fmt.Errorf("%d maximal audits take %s of the manager's memory, and its limit is %s", r.audits, megabytes(peak), megabytes(r.limit))
	}
	return nil
}
