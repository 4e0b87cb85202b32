package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func TestS2EnvironmentOfTheVerdict(t *testing.T) {
	env := func(name, value string) []v1alpha1.EnvVar { return []v1alpha1.EnvVar{{Name: name, Value: value}} }
	for name, c := range map[string]struct {
		server   v1alpha1.Server
		imageEnv []string
		recorded bool
		loads    bool
	}{
		"nothing is set":                       {},
		"a harmless variable":                  {server: v1alpha1.Server{Env: env("TOKEN", "x")}, recorded: true},
		"what the image sets":                  {server: v1alpha1.Server{Env: env("NODE_OPTIONS", "-r /x")}, imageEnv: []string{"NODE_OPTIONS=-r /x"}},
		"what the image sets to another value": {server: v1alpha1.Server{Env: env("NODE_OPTIONS", "-r /y")}, imageEnv: []string{"NODE_OPTIONS=-r /x"}, recorded: true, loads: true},
		"a variable that loads code":           {server: v1alpha1.Server{Env: env("LD_PRELOAD", "/x.so")}, recorded: true, loads: true},
		"a working directory":                  {server: v1alpha1.Server{WorkingDir: "/x"}, recorded: true},
		"the image's working directory":        {server: v1alpha1.Server{WorkingDir: "/app"}},
	} {
		t.Run(name, func(t *testing.T) {
			key := []byte("key")
			r := &Reconciler{EnvironmentKey: func() []byte { return key }}
			s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: c.server}}}
			s.run.Audited = specified(s.audit.Spec)
			if out := r.surroundings(s, c.imageEnv, "/app"); out != proceed {
				t.Fatal(out)
			}
			of := s.run.Audited.Environment
			if (of != nil) != c.recorded || (s.run.CodeLoaded != "") != c.loads {
				t.Errorf("environment %+v, loads %q", of, s.run.CodeLoaded)
			}
			if of != nil && len(of.Names) > 0 && (of.Digest == "" || strings.Contains(of.Digest, c.server.Env[0].Value)) {
				t.Errorf("digest %q", of.Digest)
			}
			if s.misled(); (s.failure.Reason == report.ReasonCodeLoaded) != c.loads {
				t.Errorf("failure %+v", s.failure)
			}
			key = nil
			if out := r.surroundings(s, c.imageEnv, "/app"); (out.kind == waits) != (of != nil && len(of.Names) > 0) {
				t.Errorf("without a key: %v", out)
			}
		})
	}
}

// TestS16CodePathsOfTheStatus: those of the report with those of the image's variables, or
// none if the report has none.
func TestS16CodePathsOfTheStatus(t *testing.T) {
	s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "r/notes"}}}}
	s.run.Audited = specified(s.audit.Spec)
	s.place([]string{"PATH=/opt/bin:/usr/bin", "PYTHONPATH=/plugins", "LANG=/x", "PYTHONUNBUFFERED=/y"}, "")
	if s.report = (&report.Report{}); s.audited().CodePaths != nil {
		t.Errorf("not known, and yet %q", s.audited().CodePaths)
	}
	s.report.CodePaths = []string{"/app"}
	if got := s.audited(); !slices.Equal(got.CodePaths, []string{"/app", "/opt/bin", "/plugins"}) || got.WorkingDir != "/" {
		t.Errorf("got %q in %q", got.CodePaths, got.WorkingDir)
	}
	s.audit.Spec.Server.WorkingDir = "/srv"
	if s.place(nil, "/app"); s.audited().WorkingDir != "/srv" {
		t.Errorf("in %q", s.audited().WorkingDir)
	}
}

// TestX2CodePathsOfAnIncompleteAudit: a policy with onInconclusive LastVerdict and onAltered Deny
// would take those of a server that hardly started for all of its code.
func TestX2CodePathsOfAnIncompleteAudit(t *testing.T) {
	seen := &report.Report{CodePaths: []string{"/app/start.js"}}
	cut := &report.Report{CodePaths: seen.CodePaths, Incomplete: &report.Incomplete{Reason: report.ReasonTimeout}}
	for name, test := range map[string]struct {
		report  *report.Report
		failure report.Incomplete
		known   bool
	}{
		"complete":              {report: seen, known: true},
		"by the runner":         {report: cut},
		"by what the Pod tells": {report: seen, failure: report.Incomplete{Reason: report.ReasonOOMKilled}},
	} {
		s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "r/notes"}}}, report: test.report, failure: test.failure}
		s.run.Audited = specified(s.audit.Spec)
		if got := s.audited().CodePaths; (got != nil) != test.known {
			t.Errorf("%s: code paths %q", name, got)
		}
	}
}

// TestX3WorkingDirectoryOfAnImage: whoever makes an image chooses it, and the API server refuses a
// status with one that is too long.
func TestX3WorkingDirectoryOfAnImage(t *testing.T) {
	s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "r/notes"}}}}
	s.run.Audited = specified(s.audit.Spec)
	if s.place([]string{"PATH=/opt/bin"}, "/"+strings.Repeat("d", 2000)); s.audited().WorkingDir != "" || len(s.run.SearchPaths) != 1 {
		t.Errorf("%d bytes, %q", len(s.audited().WorkingDir), s.run.SearchPaths)
	}
	if s.place(nil, "/"+strings.Repeat("d", 1000)); len(s.audited().WorkingDir) != 1001 {
		t.Errorf("%d bytes", len(s.audited().WorkingDir))
	}
}

func TestExercise(t *testing.T) {
	spec := v1alpha1.MCPServerAuditSpec{Probe: v1alpha1.Probe{Rounds: 1, SkipTools: []string{"a"}, Attack: plan.AttackOff}, Sandbox: v1alpha1.Sandbox{Network: report.NetworkAllow}}
	got, other := exercise(spec), exercise(v1alpha1.MCPServerAuditSpec{})
	if got.Rounds != 1 || got.Network != report.NetworkAllow || got.SkippedTools != 1 || got.Attack != plan.AttackOff || got.MaxCallsPerTool != 24 || got.Digest == other.Digest || other.Rounds != 3 || other.Timeout.Duration != plan.DefaultTimeout || other.CallTimeout.Duration != plan.DefaultCallTimeout {
		t.Errorf("exercise = %+v, without a probe %+v", got, other)
	}
}
