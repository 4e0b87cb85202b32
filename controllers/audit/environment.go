package audit

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// surroundings records the environment that the spec sets. imageEnv and imageDir are the
// image's own, empty if unknown: repeating them in the spec changes nothing.
func (r *Reconciler) surroundings(s *session, imageEnv []string, imageDir string) outcome {
	server := s.audit.Spec.Server
	own := map[string]string{}
	for _, variable := range imageEnv {
		name, value, _ := strings.Cut(variable, "=")
		own[name] = value
	}
	set := map[string]string{}
	for _, variable := range server.Env {
		if value, there := own[variable.Name]; !there || value != variable.Value {
			set[variable.Name] = variable.Value
		}
	}
	of := &report.Environment{}
	if server.WorkingDir != imageDir {
		of.WorkingDir = server.WorkingDir
	}
	s.run.CodeLoaded = environ.Problem(slices.Sorted(maps.Keys(set)), func(name string) string { return set[name] })
	if len(set) > 0 { // a matching workload repeats the image's values as well
		for _, variable := range server.Env {
			set[variable.Name] = variable.Value
		}
	}
	of.Names = slices.Sorted(maps.Keys(set))
	if len(of.Names) > 0 && r.EnvironmentKey != nil {
		key := r.EnvironmentKey()
		if key == nil {
			return wait(keyPause)
		}
		of.Digest = environ.Digest(key, set)
	}
	s.run.Audited.Environment = nil
	if len(of.Names) > 0 || of.WorkingDir != "" {
		s.run.Audited.Environment = of
	}
	return proceed
}

// maxWorkingDir is the longest directory that status.audited takes, in bytes.
const maxWorkingDir = 1024

// place records the image's working directory, and the code paths that its variables add. A
// directory that the status has no room for is unknown: no status could be written with it.
func (s *session) place(imageEnv []string, imageDir string) {
	s.run.SearchPaths = environ.SearchPaths(imageEnv)
	s.run.Audited.WorkingDir = cmp.Or(s.audit.Spec.Server.WorkingDir, imageDir, "/")
	if len(s.run.Audited.WorkingDir) > maxWorkingDir {
		s.run.Audited.WorkingDir = ""
	}
}

// codePaths returns the report's code paths and those of the image's variables: directories
// that do not exist leave no trace. It is nil if the audit is incomplete, as the server may load
// more than was seen.
func (s *session) codePaths() []string {
	if s.report == nil || len(s.report.CodePaths) == 0 || s.report.Incomplete != nil || s.failed() {
		return nil
	}
	return codepath.Reduce(slices.Concat(s.report.CodePaths, s.run.SearchPaths))
}

// keyPause is the retry interval for the key, which the manager creates at startup.
const keyPause = 2 * time.Second

// unmatched is the environment of a spec while its digest is unknown: it matches no container.
func unmatched(server v1alpha1.Server) *report.Environment {
	if len(server.Env) == 0 && server.WorkingDir == "" {
		return nil
	}
	of := &report.Environment{WorkingDir: server.WorkingDir}
	for _, variable := range server.Env {
		of.Names = append(of.Names, variable.Name)
	}
	slices.Sort(of.Names)
	return of
}

// exercise returns how a spec has its server exercised.
func exercise(spec v1alpha1.MCPServerAuditSpec) *v1alpha1.AuditedExercise {
	probe := spec.Probe
	encoded, _ := json.Marshal(probe) // it came from the API server as JSON
	return &v1alpha1.AuditedExercise{
		Digest: v1alpha1.Digest("sha256:" + report.Sum(encoded)), Network: cmp.Or(spec.Sandbox.Network, report.NetworkSinkhole), Calls: probe.Calls,
		Rounds: cmp.Or(probe.Rounds, plan.DefaultRounds), MaxCallsPerTool: cmp.Or(probe.MaxCallsPerTool, plan.DefaultMaxCallsPerTool),
		Timeout:     metav1.Duration{Duration: cmp.Or(spec.Timeout.Duration, plan.DefaultTimeout)},
		CallTimeout: metav1.Duration{Duration: cmp.Or(probe.CallTimeout.Duration, plan.DefaultCallTimeout)},
		Inputs:      int32(len(probe.Inputs)), SkippedTools: int32(len(probe.SkipTools)), Depth: probe.Depth, Attack: probe.Attack, //nolint:gosec // bounded by the CRD
	}
}

// misled makes an audit Inconclusive if its environment made the server load code. Findings
// still fail it.
func (s *session) misled() {
	if s.report != nil {
		s.report.Server.Environment, s.report.CodePaths = s.run.Audited.Environment, s.codePaths()
	}
	if !s.failed() && s.run.CodeLoaded != "" {
		s.fail(report.ReasonCodeLoaded, "%s", s.run.CodeLoaded)
	}
}
