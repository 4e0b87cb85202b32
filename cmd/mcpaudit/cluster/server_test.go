package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/cluster"
)

// clock is the time at which every test is.
var clock = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

// server plays the API server: it answers what it was given, and keeps what it is sent.
type server struct {
	t          *testing.T
	kubeconfig string

	lock sync.Mutex
	// objects by the path of a GET; lists are made of them.
	objects map[string]any
	logs    map[string]string
	// refuse answers instead of anything else.
	refuse func(http.ResponseWriter, *http.Request) bool
	// sent are the bodies, by method and path.
	sent map[string]string
	// onGet is called before an object is read.
	onGet func(path string)
}

const group = "/apis/mcpaudit.dev/v1alpha1/namespaces/"

func newServer(t *testing.T, objects ...any) *server {
	s := &server{t: t, objects: map[string]any{}, logs: map[string]string{}, sent: map[string]string{}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.kubeconfig = filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": [{"name": "test", "cluster": {"server": %q}}], "users": [{"name": "test"}],
		"contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "team"}}]}`, web.URL)
	if err := os.WriteFile(s.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		s.add(object)
	}
	return s
}

func (s *server) add(object any) {
	switch o := object.(type) {
	case *v1alpha1.MCPServerAudit:
		s.objects[group+o.Namespace+"/mcpserveraudits/"+o.Name] = o
	case storedReport:
		s.objects[group+o.Namespace+"/mcpauditreports/"+o.Name] = o
	case *corev1.Pod:
		s.objects["/api/v1/namespaces/"+o.Namespace+"/pods/"+o.Name] = o
	default:
		s.t.Fatalf("no path for %T", object)
	}
}

// storedReport is an MCPAuditReport as the API server has it.
type storedReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]any `json:"spec"`
}

// stored makes an MCPAuditReport of a report, as the operator does.
func stored(t *testing.T, name string, at time.Time, r report.Report) storedReport {
	encoded, err := report.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	o := storedReport{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: name, CreationTimestamp: metav1.NewTime(at), Labels: map[string]string{"mcpaudit.dev/audit-uid": "uid-notes"},
		Annotations: map[string]string{v1alpha1.ManifestAnnotation: r.ManifestDigest, v1alpha1.VerdictAnnotation: string(r.Verdict)},
	}}
	if err := json.Unmarshal(encoded, &o.Spec); err != nil {
		t.Fatal(err)
	}
	o.Spec["audit"] = map[string]any{"name": "notes", "trigger": "NeverAudited", "generation": 1, "fromANewerOperator": true}
	return o
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if r.Method != http.MethodGet {
		s.sent[r.Method+" "+r.URL.Path] = string(body)
	}
	if s.refuse != nil && s.refuse(w, r) {
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/log"):
		_, _ = io.WriteString(w, s.logs[r.URL.Query().Get("container")])
	case r.Method == http.MethodPost:
		s.create(w, r, body)
	case isList(r.URL.Path):
		s.list(w, r)
	default:
		s.one(w, r)
	}
}

func isList(of string) bool {
	switch path.Base(of) {
	case "mcpserveraudits", "mcpauditreports", "pods":
		return true
	}
	return false
}

func (s *server) create(w http.ResponseWriter, r *http.Request, body []byte) {
	var audit v1alpha1.MCPServerAudit
	if err := json.Unmarshal(body, &audit); err != nil {
		s.t.Error(err)
	}
	if audit.Name == "" {
		audit.Name = audit.GenerateName + "x7k2p"
	}
	audit.UID, audit.Generation, audit.Namespace = "uid-notes", 1, strings.Split(r.URL.Path, "/")[5]
	audit.Status.ObservedGeneration = -1
	s.add(&audit)
	answer(w, http.StatusCreated, &audit)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(r.URL.Path, "/namespaces/", 2)
	prefix := r.URL.Path + "/"
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if len(parts) == 1 && strings.Contains(key, "/"+path.Base(r.URL.Path)+"/") || strings.HasPrefix(key, prefix) {
			items = append(items, s.objects[key])
		}
	}
	answer(w, http.StatusOK, map[string]any{"items": items})
}

func (s *server) one(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && s.onGet != nil {
		s.onGet(r.URL.Path)
	}
	object, ok := s.objects[r.URL.Path]
	if !ok {
		refusal(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(path.Dir(r.URL.Path))+" \""+path.Base(r.URL.Path)+"\" not found")
		return
	}
	if r.Method == http.MethodDelete {
		delete(s.objects, r.URL.Path)
	}
	answer(w, http.StatusOK, object)
}

func answer(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}

func refusal(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	answer(w, int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	})
}

// outcome holds what a call of the program came to.
type outcome struct {
	code           int
	stdout, stderr string
	err            string
}

// call runs a command line against the server.
func (s *server) call(args ...string) outcome { return s.callWith(s.t.Context(), args...) }

func (s *server) callWith(ctx context.Context, args ...string) outcome {
	return execute(ctx, func() time.Time { return clock }, append([]string{"kubectl-mcpaudit", "--kubeconfig", s.kubeconfig}, args...))
}

func execute(ctx context.Context, now func() time.Time, args []string) outcome {
	var stdout, stderr bytes.Buffer
	root, args := cluster.Plugin(args, "mcpaudit v1", now)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	code, err := cli.Run(ctx, root, args)
	o := outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
	if err != nil {
		o.err = err.Error()
	}
	return o
}
