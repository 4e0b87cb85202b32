//go:build envtest

package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// program is the command line against a real API server.
type program struct {
	t          *testing.T
	kubeconfig string
}

func (p program) call(args ...string) outcome {
	p.t.Helper()
	return execute(p.t.Context(), time.Now, append([]string{"kubectl-mcpaudit", "--kubeconfig", p.kubeconfig, "-n", "default"}, args...))
}

// wants checks an outcome; what it says is in stdout, stderr or the error.
func (p program) wants(o outcome, code int, says ...string) {
	p.t.Helper()
	all := o.stdout + o.stderr + o.err
	for _, text := range says {
		if !strings.Contains(all, text) {
			p.t.Errorf("%q is not said: %+v", text, o)
		}
	}
	if o.code != code {
		p.t.Errorf("exit code %d, want %d: %+v", o.code, code, o)
	}
}

func TestAgainstAPIServer(t *testing.T) {
	environment := testenv.Start(t)
	api := environment.Client
	kubeconfig := func(name string, config []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, config, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	p := program{t, kubeconfig("admin", environment.KubeConfig)}
	operate(t, api)

	p.wants(p.call("list"), 0, "No MCPServerAudits found in namespace default.")
	p.wants(p.call("run", "--image", "registry.example/notes:1", "--name", "notes"), 0,
		"default/notes: Running: The server is being audited.", "default/notes: Pass (Passed)", "Report    notes-1")
	p.wants(p.call("run", "--image", "registry.example/notes:1", "--name", "notes"), 1,
		"MCPServerAudit notes already exists in namespace default: choose another --name, or see kubectl mcpaudit show notes")
	p.wants(p.call("run", "--image", "registry.example/Leaky:1", "--rm"), 3, "default/leaky-", "Fail (FindingsAboveThreshold)")
	p.wants(p.call("run", "--image", "registry.example/notes:1", "--transport", "http", "--port", "80", "--path", "mcp"), 1, "spec.server.path")
	p.wants(p.call("list"), 0, "NAME    VERDICT   REASON   RISK     FINDINGS", "notes   Pass      Passed")
	p.wants(p.call("list", "-o", "name"), 0, "mcpserveraudit.mcpaudit.dev/notes\n")

	// The server advertises something else; that is approved.
	audited(t, api, "notes", 2, func(r *report.Report) { *r = after() })
	p.wants(p.call("diff", "notes"), 3, "  + tool sync")
	p.wants(p.call("diff", "notes-1", "notes-2"), 3, "  + connect 93.184.216.34:80")
	p.wants(p.call("show", "notes"), 0, "default/notes: Fail (ManifestDrifted)", "notes-1", "notes-2")
	p.wants(p.call("approve", "notes", "--apply"), 0, "#   + tool sync", "default/notes is now pinned to "+string(digest("2")))
	var pinned v1alpha1.MCPServerAudit
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "notes"}, &pinned); err != nil {
		t.Fatal(err)
	}
	if want := (v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: digest("2")}); pinned.Spec.Baseline != want || pinned.Spec.Server.Image == "" {
		t.Errorf("spec %+v, want the baseline %+v", pinned.Spec, want)
	}
	if !slices.ContainsFunc(pinned.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "kubectl-mcpaudit" }) {
		t.Errorf("the change is nobody's: %v", pinned.ManagedFields)
	}

	// What the API server refuses is said in a line.
	p.wants(p.call("show", "nobody"), 1, "no MCPServerAudit nobody in namespace default; kubectl mcpaudit list -A lists all namespaces")
	p.wants(p.call("show", "notes", "-n", "nowhere"), 1, "no MCPServerAudit notes in namespace nowhere")
	user, err := environment.AddUser(envtest.User{Name: "eve"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	eve := program{t, kubeconfig("eve", config)}
	eve.wants(eve.call("list"), 1, `forbidden: User "eve" cannot list resource "mcpserveraudits"`, "ask for the ClusterRole view")
	p.wants(p.call("logs", "notes"), 1, "no audit of default/notes is in progress")

	if err := envtest.UninstallCRDs(environment.Config, environment.CRDInstallOptions); err != nil {
		t.Fatal(err)
	}
	gone := func(context.Context) (bool, error) { return p.call("list").code != 0, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, gone); err != nil {
		t.Error(err)
	}
	p.wants(p.call("list"), 1, "the cluster has no MCPServerAudits: install the operator")
}

// operate plays the operator: it takes up every new audit, and decides it a second later.
func operate(t *testing.T, api client.Client) {
	go func() {
		seen := map[string]time.Time{}
		_ = wait.PollUntilContextCancel(t.Context(), 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var list v1alpha1.MCPServerAuditList
			if err := api.List(ctx, &list); err != nil {
				return false, nil //nolint:nilerr // the test is at its end
			}
			for _, audit := range list.Items {
				began, known := seen[string(audit.UID)]
				switch {
				case !known:
					seen[string(audit.UID)] = time.Now()
					set(&audit, v1alpha1.ConditionAuditing, metav1.ConditionTrue, v1alpha1.ReasonRunning, "The server is being audited.")
					_ = api.Status().Update(ctx, &audit)
				case audit.Status.Verdict == "" && time.Since(began) > 1500*time.Millisecond:
					audited(t, api, audit.Name, 1, func(r *report.Report) {
						*r = before()
						if strings.HasPrefix(audit.Name, "leaky") {
							r.Verdict = report.VerdictFail
						}
					})
				}
			}
			return false, nil
		})
	}()
}

// audited writes the outcome of the nth audit: the report, and then the status.
func audited(t *testing.T, api client.Client, name string, n int, change func(*report.Report)) {
	ctx := t.Context()
	var audit v1alpha1.MCPServerAudit
	if err := api.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceDefault, Name: name}, &audit); err != nil {
		return // deleted by now
	}
	var r report.Report
	change(&r)
	r.Cap()
	r.SchemaVersion, r.Network = report.SchemaVersion, report.NetworkSinkhole
	if r.Message == "" {
		r.Message = "no findings"
	}
	r.Normalise()
	run := name + map[int]string{1: "-1", 2: "-2"}[n]
	kept := &v1alpha1.MCPAuditReport{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: audit.Namespace, Name: run, Labels: podspec.Labels(&audit),
			Annotations: map[string]string{v1alpha1.ManifestAnnotation: r.ManifestDigest, v1alpha1.VerdictAnnotation: string(r.Verdict)},
		},
		Spec: v1alpha1.MCPAuditReportSpec{
			Audit:  v1alpha1.AuditInputs{Name: name, Trigger: v1alpha1.TriggerNeverAudited, ReportSHA256: strings.Repeat("0", 64)},
			Report: r,
		},
	}
	if err := api.Create(ctx, kept); err != nil {
		t.Error(err)
		return
	}
	history := append([]v1alpha1.HistoryEntry{{
		Time: metav1.Now(), Verdict: r.Verdict, Reason: string(r.Reason), Trigger: v1alpha1.TriggerScheduleDue, Run: run,
	}}, audit.Status.History...)
	audit.Status = v1alpha1.MCPServerAuditStatus{}
	passed(&audit)
	if r.Verdict == report.VerdictFail {
		failed(&audit)
	}
	if n > 1 {
		audit.Status.Conditions[0].Reason = v1alpha1.ReasonManifestDrifted
	}
	for i := range audit.Status.Conditions {
		audit.Status.Conditions[i].ObservedGeneration = audit.Generation
	}
	audit.Status.TopFindings, audit.Status.Drift = nil, nil
	audit.Status.Trigger.SpecDigest = digest("d")
	audit.Status.ManifestDigest = v1alpha1.Digest(r.ManifestDigest)
	audit.Status.ReportRef, audit.Status.History = &v1alpha1.ReportReference{Name: run}, history
	if err := api.Status().Update(ctx, &audit); err != nil {
		t.Error(err)
	}
}
