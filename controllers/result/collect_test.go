package result_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/result"
)

// fakeLogs is the log of every container, or the error of opening it.
type fakeLogs struct {
	text string
	err  error
}

func (f fakeLogs) Open(context.Context, string, string, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(f.text)), f.err
}

func newReport() report.Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	return report.Report{
		SchemaVersion: report.SchemaVersion, Verdict: report.VerdictFail, Reason: report.ReasonFindingsAboveThreshold,
		Message: "1 finding", FailOn: report.SeverityHigh, StartTime: report.At(at), EndTime: report.At(at.Add(time.Second)),
		Findings: []report.Finding{{
			Rule: "MCPA-READ-001", Severity: report.SeverityHigh, Title: "t", Message: "m", Phase: report.PhaseCall,
			Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"},
			Evidence:   []report.Evidence{{Time: report.At(at), PID: 7, Syscall: "openat", Detail: "d", Attribution: report.AttributionInFlight}},
		}},
	}
}

// written returns what a runner leaves: its termination message and its log.
func written(t *testing.T, r report.Report) (string, string) {
	t.Helper()
	encoded, err := report.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := report.Summarise(r, encoded).Encode()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	log.WriteString("progress\n")
	if err := report.WriteFrame(&log, encoded); err != nil {
		t.Fatal(err)
	}
	return string(summary), log.String()
}

func TestCollect(t *testing.T) {
	summary, log := written(t, newReport())
	other := newReport()
	other.Message = "another"
	_, otherLog := written(t, other)
	finished := newPod().ends("runner", 0, "Completed", summary).pod
	future := newReport()
	future.Manifest.Tools = []report.Item{{Name: "format_note", Digest: "sha512:1"}}
	futureSummary, futureLog := written(t, future)
	future.ManifestDigest = "sha512:2"
	strange, _ := written(t, future)

	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		logs fakeLogs
		want error
	}{
		{"whole", finished, fakeLogs{text: log}, nil},
		{"still running", newPod().runs("runner").pod, fakeLogs{text: log}, result.ErrNoSummary},
		{"no summary", newPod().ends("runner", 0, "Completed", "bye").pod, fakeLogs{text: log}, result.ErrNoSummary},
		{"no log", finished, fakeLogs{err: errors.New("connection refused")}, result.ErrNoReport},
		{"empty log", finished, fakeLogs{}, result.ErrNoReport},
		{"half a log", finished, fakeLogs{text: log[:len(log)/2]}, result.ErrNoReport},
		{"another kind of digest", newPod().ends("runner", 0, "Completed", futureSummary).pod, fakeLogs{text: futureLog}, result.ErrNoReport},
		{"another kind of digest in the summary", newPod().ends("runner", 0, "Completed", strange).pod, fakeLogs{text: log}, result.ErrNoSummary},
		{"another report", finished, fakeLogs{text: otherLog}, result.ErrNoReport},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := result.Collect(t.Context(), test.logs, test.pod)
			if !errors.Is(err, test.want) {
				t.Fatalf("Collect = %v, want %v", err, test.want)
			}
			if !errors.Is(err, result.ErrNoSummary) && got.Summary.Verdict != report.VerdictFail {
				t.Errorf("summary is %+v", got.Summary)
			}
			if (err == nil) != (len(got.Report.Findings) == 1) {
				t.Errorf("report is %+v", got.Report)
			}
		})
	}
}
