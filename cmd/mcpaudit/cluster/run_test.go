package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/cluster"
)

// decideAfter has an audit decided when it is looked at for the nth time.
func (s *server) decideAfter(looks int, outcome func(*v1alpha1.MCPServerAudit)) {
	s.onGet = func(path string) {
		audit, ok := s.objects[path].(*v1alpha1.MCPServerAudit)
		if !ok {
			return
		}
		if looks--; looks == 0 {
			audit.Status = v1alpha1.MCPServerAuditStatus{}
			outcome(audit)
		} else if looks > 0 {
			audit.Status.Conditions = nil
			set(audit, v1alpha1.ConditionAuditing, metav1.ConditionTrue, v1alpha1.ReasonRunning, "The server is being audited.")
		}
	}
}

func TestRun(t *testing.T) {
	inconclusive := func(a *v1alpha1.MCPServerAudit) { passed(a); a.Status.Verdict = v1alpha1.VerdictInconclusive }
	invalid := func(a *v1alpha1.MCPServerAudit) {
		a.Status.ObservedGeneration = 1
		set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "spec.server.image: no.")
		set(a, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, "spec.server.image: no.")
	}
	for name, test := range map[string]struct {
		outcome func(*v1alpha1.MCPServerAudit)
		code    int
		shows   string
	}{
		"pass":         {passed, 0, "team/notes-x7k2p: Pass (Passed)\n"},
		"fail":         {failed, 3, "team/notes-x7k2p: Fail (FindingsAboveThreshold)\n"},
		"inconclusive": {inconclusive, 4, "team/notes-x7k2p: Inconclusive"},
		"invalid":      {invalid, 1, "team/notes-x7k2p: Pending (InvalidSpec)\nspec.server.image: no.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.decideAfter(2, test.outcome)
			o := s.call("run", "--image", "registry.example/team/Notes:1.4@sha256:00", "--timeout", "90s", "--env", "A=b=c", "--fail-on", "medium", "--", "/notes", "--rm")
			if o.code != test.code || o.err != "" || !strings.Contains(o.stdout, test.shows) {
				t.Errorf("exit code %d, want %d: %+v", o.code, test.code, o)
			}
			if want := "team/notes-x7k2p: Running: The server is being audited.\n"; o.stderr != want {
				t.Errorf("progress %q, want %q", o.stderr, want)
			}
			var sent v1alpha1.MCPServerAudit
			if err := json.Unmarshal([]byte(s.sent["POST "+group+"team/mcpserveraudits"]), &sent); err != nil {
				t.Fatal(err)
			}
			want := v1alpha1.MCPServerAuditSpec{
				Server: v1alpha1.Server{
					Image: "registry.example/team/Notes:1.4@sha256:00", Transport: plan.TransportAuto,
					Command: []string{"/notes", "--rm"}, Env: []v1alpha1.EnvVar{{Name: "A", Value: "b=c"}},
				},
				FailOn: "Medium", MinAssurance: report.AssurancePartial, Timeout: metav1.Duration{Duration: 90 * time.Second},
			}
			if diff := cmp.Diff(want, sent.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunRemoves(t *testing.T) {
	s := newServer(t)
	s.decideAfter(1, passed)
	if o := s.call("run", "--image", "notes", "--name", "mine", "--rm"); o.code != 0 || o.err != "" {
		t.Errorf("%+v", o)
	}
	if got, want := s.sent["DELETE "+group+"team/mcpserveraudits/mine"], `{"preconditions":{"uid":"uid-notes"}}`; got != want {
		t.Errorf("deleted %q, want %q", got, want)
	}
	if len(s.objects) != 0 {
		t.Errorf("it is left: %v", s.objects)
	}
}

func TestRunInterrupted(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		says  string
		left  int
	}{
		"kept":    {nil, "interrupted: audit team/mine continues in the cluster: see kubectl mcpaudit show mine -n team, or stop it with kubectl delete mcpserveraudit mine -n team", 1},
		"removed": {[]string{"--rm"}, "interrupted: audit team/mine is deleted (--rm)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			ctx, interrupt := context.WithCancel(t.Context())
			s.onGet = func(string) { interrupt() }
			o := s.callWith(ctx, append([]string{"run", "--image", "notes", "--name", "mine"}, test.flags...)...)
			if o.code != 1 || o.err != test.says || len(s.objects) != test.left {
				t.Errorf("%+v, left %d", o, len(s.objects))
			}
		})
	}
}

func TestRunWaits(t *testing.T) {
	s := newServer(t)
	o := s.call("run", "--image", "notes", "--name", "mine", "--wait", "1ms")
	if want := "no verdict within --wait 1ms: audit team/mine continues in the cluster:"; o.code != 1 || !strings.HasPrefix(o.err, want) {
		t.Errorf("%+v, want %q", o, want)
	}
	s = newServer(t)
	if o := s.call("run", "--image", "notes", "--wait", "0"); o.stdout != "mcpserveraudit.mcpaudit.dev/notes-x7k2p\n" || o.code != 0 {
		t.Errorf("%+v", o)
	}
}

// An API server that is away for a moment does not end the waiting.
func TestRunOutlivesAnOutage(t *testing.T) {
	s := newServer(t)
	s.decideAfter(1, passed)
	away := 1
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || away == 0 {
			return false
		}
		away--
		refusal(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: leader changed\x1b[2J")
		return true
	}
	o := s.call("run", "--image", "notes", "--name", "mine")
	if want := `team/mine: etcdserver: leader changed\x1b[2J` + "\n"; o.code != 0 || o.stderr != want {
		t.Errorf("%+v, want %q", o, want)
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		code    int32
		reason  metav1.StatusReason
		message string
		want    string
	}{
		"forbidden": {http.StatusForbidden, metav1.StatusReasonForbidden,
			`mcpserveraudits.mcpaudit.dev is forbidden: User "eve" cannot list resource "mcpserveraudits" in API group "mcpaudit.dev" in the namespace "team"`,
			`forbidden: User "eve" cannot list resource "mcpserveraudits" in API group "mcpaudit.dev" in the namespace "team": ask for the ClusterRole view (edit, to change something) in that namespace`},
		"unauthorized": {http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized",
			"the cluster rejected the credentials of the kubeconfig: log in again, or choose another --context"},
		"other": {http.StatusInternalServerError, metav1.StatusReasonInternalError, "something\nelse", "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
				refusal(w, test.code, test.reason, test.message)
				return true
			}
			if o := s.call("list"); o.err != test.want || o.code != 1 || o.stdout != "" {
				t.Errorf("%+v, want %q", o, test.want)
			}
		})
	}
	t.Run("no such kind", func(t *testing.T) {
		s := newServer(t)
		s.refuse = func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true }
		want := "the cluster has no MCPServerAudits: install the operator (make deploy), or choose another --context"
		if o := s.call("list"); o.err != want {
			t.Errorf("%+v, want %q", o, want)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		s := newServer(t)
		o := s.call("list", "--server", "http://127.0.0.1:1")
		if want := "http://127.0.0.1:1 does not answer (connect: connection refused): check --context"; o.err != want {
			t.Errorf("%+v, want %q", o, want)
		}
	})
}

// The report that show prints is one that the engine's commands read, and list's JSON
// has all that the API server has.
func TestJSON(t *testing.T) {
	o := team(t).call("show", "notes", "-o", "json")
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(o.stdout)); err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(compact.Bytes())
	if err != nil || r.Server.Name != "notes"+hostile || r.ManifestDigest != string(digest("2")) || len(r.Findings) != 1 {
		t.Errorf("%v: %+v", err, r)
	}
	o = team(t).call("show", "notes", "-o", "yaml")
	var again report.Report
	if err := yaml.Unmarshal([]byte(o.stdout), &again); err != nil || again.Server.Name != "notes"+hostile {
		t.Errorf("%v: %+v from %+v", err, again.Server, o)
	}
	o = team(t).call("list", "-o", "json")
	var list v1alpha1.MCPServerAuditList
	if err := json.Unmarshal([]byte(o.stdout), &list); err != nil || len(list.Items) != 7 {
		t.Errorf("%v: %+v", err, list)
	}
	o = team(t).call("show", "calm", "-o", "json")
	if want := "the last audit of calm has no report; see its status with kubectl get mcpserveraudit calm -n team -o json"; o.err != want {
		t.Errorf("%+v, want %q", o, want)
	}
}

func TestApprove(t *testing.T) {
	patch := "PATCH " + group + "team/mcpserveraudits/notes"
	t.Run("applied", func(t *testing.T) {
		s := team(t)
		o := s.call("approve", "notes", "--apply")
		var sent struct {
			Metadata metav1.ObjectMeta
			Spec     map[string]any
		}
		if err := json.Unmarshal([]byte(s.sent[patch]), &sent); err != nil || o.code != 0 {
			t.Fatalf("%v: %+v", err, o)
		}
		want := map[string]any{"baseline": map[string]any{"mode": "Pinned", "manifestDigest": string(digest("2"))}}
		if diff := cmp.Diff(want, sent.Spec); diff != "" || sent.Metadata.UID != "uid-notes" {
			t.Errorf("patch of %q (-want +got):\n%s", sent.Metadata.UID, diff)
		}
		if want := "team/notes is now pinned to " + string(digest("2")) + "; the operator audits it again.\n"; o.stderr != want {
			t.Errorf("%q, want %q", o.stderr, want)
		}
	})
	t.Run("not of a spec that cannot be followed", func(t *testing.T) {
		s := newServer(t, anAudit("notes", failed, func(a *v1alpha1.MCPServerAudit) {
			a.Status.Conditions = nil
			set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "spec.schedule: no.")
		}))
		if o := s.call("approve", "notes", "--apply"); o.code != 1 || o.stdout != "" || len(s.sent) != 0 || !strings.Contains(o.err, "is invalid or not allowed") {
			t.Errorf("%+v, sent %v", o, s.sent)
		}
	})
	t.Run("pinned already", func(t *testing.T) {
		s := newServer(t, anAudit("notes", failed, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: digest("2")}
		}))
		if o := s.call("approve", "notes", "--apply"); o.code != 0 || o.stdout != "" || len(s.sent) != 0 || !strings.Contains(o.stderr, "is already pinned to the manifest of its last audit") {
			t.Errorf("%+v, sent %v", o, s.sent)
		}
	})
	for name, test := range map[string]struct {
		managed func(*v1alpha1.MCPServerAudit)
		manager string
	}{
		"Flux": {func(a *v1alpha1.MCPServerAudit) {
			a.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		}, "Flux (Kustomization flux-system/apps)"},
		"Flux by Helm": {func(a *v1alpha1.MCPServerAudit) {
			a.Labels = map[string]string{"helm.toolkit.fluxcd.io/name": "notes", "helm.toolkit.fluxcd.io/namespace": "team"}
		}, "Flux (HelmRelease team/notes)"},
		"Argo CD": {func(a *v1alpha1.MCPServerAudit) {
			a.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "apps:mcpaudit.dev/MCPServerAudit:team/notes"}
		}, "Argo CD (Application apps)"},
		"Argo CD by label": {func(a *v1alpha1.MCPServerAudit) {
			a.Labels = map[string]string{"argocd.argoproj.io/instance": "apps"}
		}, "Argo CD (Application apps)"},
		"by its fields": {func(a *v1alpha1.MCPServerAudit) {
			a.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "mcpaudit-manager"}, {Manager: "argocd-controller"}}
		}, "Argo CD"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, anAudit("notes", failed, test.managed))
			o := s.call("approve", "notes", "--apply")
			want := test.manager + " manages team/notes and would undo the change: apply the patch above to its source; nothing was changed"
			if o.err != want || o.code != 1 || len(s.sent) != 0 || !strings.Contains(o.stdout, "manifestDigest: "+string(digest("2"))) {
				t.Errorf("%+v, want %q, sent %v", o, want, s.sent)
			}
			if o = s.call("approve", "notes"); o.code != 0 || o.stderr != test.manager+" manages team/notes: apply this patch to its source.\n" {
				t.Errorf("%+v", o)
			}
		})
	}
}

// What is printed for a pull request is YAML that says no more than the pin, whatever
// the server is called.
func TestApproveIsYAML(t *testing.T) {
	o := team(t).call("approve", "notes")
	var got map[string]any
	if err := yaml.UnmarshalStrict([]byte(o.stdout), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "mcpaudit.dev/v1alpha1", "kind": "MCPServerAudit", "metadata": map[string]any{"name": "notes", "namespace": "team"},
		"spec": map[string]any{"baseline": map[string]any{"mode": "Pinned", "manifestDigest": string(digest("2"))}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without the report of the baseline, what the operator noted is shown.
func TestDiffAsNoted(t *testing.T) {
	last := after()
	last.Baseline = &report.BaselineDrift{
		ManifestDigest: string(digest("1")), Manifest: report.Drift{Added: []string{"tool sync" + hostile}},
		Behavior: report.BehaviorDrift{Added: []string{"connect 93.184.216.34:80"}},
	}
	s := newServer(t, anAudit("notes", reported), stored(t, "notes-2", clock, last))
	compare(t, "diff-noted", s.call("diff", "notes"))
	s = newServer(t, anAudit("notes", reported), stored(t, "notes-2", clock, after()))
	compare(t, "diff-lost", s.call("diff", "notes"))
}

func TestComplete(t *testing.T) {
	s := team(t)
	t.Setenv("KUBECONFIG", s.kubeconfig)
	for words, want := range map[string]string{
		"":                     "list show run logs diff approve version help :4",
		"a":                    "approve :4",
		"show ":                "again blind calm changed first fresh notes :4",
		"show c":               "calm changed :4",
		"-n other approve ":    "elsewhere :4",
		"approve -n other e":   "elsewhere :4",
		"show -n nowhere ":     ":4",
		"list ":                ":4",
		"logs --f":             "--follow :4",
		"show --context no-x ": ":4",
	} {
		o := execute(t.Context(), time.Now, append([]string{"/usr/bin/kubectl_complete-mcpaudit"}, strings.Split(words, " ")...))
		var got []string
		for line := range strings.Lines(o.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t") // its description
			got = append(got, word)
		}
		if got := strings.Join(got, " "); got != want || o.code != 0 || o.err != "" {
			t.Errorf("%q: %q, want %q (%d, %s)", words, got, want, o.code, o.err)
		}
	}
}

func TestCalled(t *testing.T) {
	for name, want := range map[string]bool{
		"/usr/local/bin/kubectl-mcpaudit": true, "kubectl_complete-mcpaudit": true, "kubectl-mcpaudit.exe": true, "bin/mcpaudit": false, "": false,
	} {
		if got := cluster.Called(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// Without a kubeconfig nothing is guessed.
func TestNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := os.Stat(os.Getenv("KUBECONFIG")); err == nil {
		t.Fatal("there is one")
	}
	o := execute(t.Context(), time.Now, []string{"kubectl-mcpaudit", "list"})
	if want := "no cluster: set KUBECONFIG or --kubeconfig"; o.err != want {
		t.Errorf("%q, want %q", o.err, want)
	}
}
