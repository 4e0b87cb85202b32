package result_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		Message: "1 finding", FailOn: report.SeverityHigh, StartTime: at, EndTime: at.Add(time.Second),
		Findings: []report.Finding{{
			Rule: "MCPA-READ-001", Severity: report.SeverityHigh, Title: "t", Message: "m", Phase: report.PhaseCall,
			Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"},
			Evidence:   []report.Evidence{{Time: at, PID: 7, Syscall: "openat", Detail: "d", Attribution: report.AttributionInFlight}},
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

// fill sets every field that can be set to something that is not its zero
// value, so that a field that a conversion loses is noticed.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, *n*1000, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("fill knows no " + v.Kind().String())
	}
}

func TestConvertKeepsEverything(t *testing.T) {
	var full report.Report
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for name, want := range map[string]report.Report{"full": full, "empty": {}, "ordinary": newReport()} {
		t.Run(name, func(t *testing.T) {
			converted, err := result.Convert(want)
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(converted)
			if err != nil {
				t.Fatal(err)
			}
			var got report.Report
			decoder := json.NewDecoder(bytes.NewReader(encoded))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&got); err != nil {
				t.Fatal(err)
			}
			want.Normalise()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the round trip changed the report (-want +got):\n%s", diff)
			}
			read, err := result.Report(converted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, read); diff != "" {
				t.Errorf("reading it back changed the report (-want +got):\n%s", diff)
			}
		})
	}
}
