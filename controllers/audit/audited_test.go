package audit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

func digestOf(letter string) v1alpha1.Digest {
	return v1alpha1.Digest("sha256:" + strings.Repeat(letter, 64))
}

// notExercise leaves out how the server was exercised, which has a test of its own.
var notExercise = cmpopts.IgnoreFields(v1alpha1.AuditedServer{}, "Exercise")

// resolved is a session of a spec whose image the registry knows.
func resolved(t *testing.T, server v1alpha1.Server, image imageref.Image) *session {
	t.Helper()
	s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: server}}}
	s.run = podspec.Run{Audited: specified(v1alpha1.MCPServerAuditSpec{Server: server})}
	s.found(image)
	return s
}

func TestWhatWasAudited(t *testing.T) {
	server := v1alpha1.Server{Image: "r/notes:1", Args: []string{"--stdio"}}
	command := v1alpha1.CommandDigest(nil, server.Args)
	image := imageref.Image{
		Reference: "r/notes@" + string(digestOf("a")), Digest: string(digestOf("a")), Manifest: string(digestOf("b")), ID: string(digestOf("c")),
		Entrypoint: []string{"/notes"}, Cmd: []string{"--http"}, Platform: "linux/arm64", Several: true,
	}
	before := v1alpha1.AuditedServer{
		Image: "r/notes:1", Digests: []v1alpha1.Digest{digestOf("a"), digestOf("b")}, ImageID: digestOf("c"), Platform: "linux/arm64",
		CommandDigest: command, ArgvDigest: v1alpha1.CommandDigest([]string{"/notes", "--stdio"}, nil),
	}
	unresolved := func(server v1alpha1.Server) *session {
		s := &session{audit: &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: server}}}
		s.run.Audited = specified(v1alpha1.MCPServerAuditSpec{Server: server})
		earlier := before
		earlier.Unsuppressed = &v1alpha1.FindingCounts{}
		s.audit.Status.Audited = &earlier
		return s
	}
	for _, c := range []struct {
		name    string
		session func() *session
		want    *v1alpha1.AuditedServer
	}{
		{"an index for several platforms", func() *session { return resolved(t, server, image) }, &before},
		{"an image for one", func() *session {
			one := image
			one.Digest, one.Several = image.Manifest, false
			return resolved(t, server, one)
		}, &v1alpha1.AuditedServer{Image: before.Image, Digests: before.Digests[1:], ImageID: before.ImageID, CommandDigest: command, ArgvDigest: before.ArgvDigest}},
		{"S1: an ambiguous index", func() *session {
			odd := image
			odd.Ambiguous = "it has two"
			return resolved(t, server, odd)
		}, &v1alpha1.AuditedServer{
			Image: before.Image, Digests: before.Digests[1:], AmbiguousDigest: digestOf("a"), ImageID: before.ImageID, Platform: before.Platform,
			CommandDigest: command, ArgvDigest: before.ArgvDigest,
		}},
		{"findings, and those that no suppression is about", func() *session {
			s := resolved(t, server, image)
			s.report = &report.Report{Findings: []report.Finding{
				{Severity: report.SeverityHigh, Suppressed: &report.Suppressed{}}, {Severity: report.SeverityHigh},
				{Severity: report.SeverityCritical, Suppressed: &report.Suppressed{Expired: true}},
			}}
			return s
		}, func() *v1alpha1.AuditedServer {
			with := before
			with.Unsuppressed = &v1alpha1.FindingCounts{Critical: 1, High: 1}
			return &with
		}()},
		{"an image that only the kubelet could have", func() *session {
			s := unresolved(v1alpha1.Server{Image: "local/notes:1", Command: []string{"/notes"}})
			s.runs([]string{"/notes"})
			s.resolved = digestOf("d")
			return s
		}, &v1alpha1.AuditedServer{
			Image: "local/notes:1", AmbiguousDigest: digestOf("d"),
			CommandDigest: v1alpha1.CommandDigest([]string{"/notes"}, nil), ArgvDigest: v1alpha1.CommandDigest([]string{"/notes"}, nil),
		}},
		{"an image that could not be had this time", func() *session { return unresolved(server) }, &before},
		{"an image that could not be had, with another command", func() *session {
			return unresolved(v1alpha1.Server{Image: "r/notes:1"})
		}, &v1alpha1.AuditedServer{Image: "r/notes:1", CommandDigest: v1alpha1.CommandDigest(nil, nil)}},
		{"another image that could not be had", func() *session {
			return unresolved(v1alpha1.Server{Image: "r/notes:2", Args: server.Args})
		}, &v1alpha1.AuditedServer{Image: "r/notes:2", CommandDigest: command}},
		{"a server that runs elsewhere", func() *session { return unresolved(v1alpha1.Server{URL: "https://mcp.example.com"}) }, nil},
		{"a reference and a platform that are none", func() *session {
			other := image
			other.Platform = "linux/" + strings.Repeat("x", 100)
			return resolved(t, v1alpha1.Server{Image: strings.Repeat("<", maxImage), Args: server.Args}, other)
		}, &v1alpha1.AuditedServer{
			Image: strings.Repeat("<", 84) + "…", Digests: before.Digests, ImageID: before.ImageID, Platform: "linux/" + strings.Repeat("x", 55) + "…",
			CommandDigest: command, ArgvDigest: before.ArgvDigest,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.session().audited(), notExercise); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// begun is a world in which the Pod of the first audit has just been made.
func begun(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.outcome = observed("1")
	for len(w.created) == 0 {
		if _, err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// A manager that begins in the middle, and finds another time for the next audit in the
// spec, says what the one before it had run.
func TestWhatWasAuditedOutlivesTheManager(t *testing.T) {
	w := begun(t)
	audit := w.audit()
	audit.Generation++
	audit.Spec.Suspend = true
	if err := w.api.Update(t.Context(), audit); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.audited("")
	if got := w.audit().Status.Audited; got == nil || got.ArgvDigest != v1alpha1.CommandDigest([]string{"/notes"}, nil) || got.Platform != "linux/amd64" {
		t.Errorf("audited is %+v", got)
	}
}

// The Pod of a manager that did not record it is read to its end.
func TestWhatAnOlderManagerAudited(t *testing.T) {
	w := begun(t)
	pods := list(w, &corev1.PodList{}, "mcpaudit-runs").Items
	for key, value := range pods[0].Annotations {
		if before, _, ok := strings.Cut(value, `,"audited":{`); ok {
			pods[0].Annotations[key] = before + "}"
		}
	}
	if err := w.api.Update(t.Context(), &pods[0]); err != nil {
		t.Fatal(err)
	}
	if run, err := podspec.ReadRun(&pods[0]); err != nil || run.Audited.Image != "" {
		t.Fatalf("the record is %+v, %v", run, err)
	}
	w.audited("")
	want := &v1alpha1.AuditedServer{
		Image: "registry.example/notes:v1", AmbiguousDigest: digestOf("a"), CommandDigest: v1alpha1.CommandDigest(nil, nil),
		Platform: "linux/amd64", Unsuppressed: &v1alpha1.FindingCounts{},
	}
	if diff := cmp.Diff(want, w.audit().Status.Audited, notExercise); diff != "" || len(w.created) != 1 {
		t.Error(len(w.created), diff)
	}
}
