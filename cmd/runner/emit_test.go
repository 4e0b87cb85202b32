package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func TestWhatIsEmittedIsWhatTheManagerReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "termination-log")
	var log bytes.Buffer
	log.WriteString("a line of the runner\n")
	want := report.Report{SchemaVersion: report.SchemaVersion, Verdict: report.VerdictPass, Reason: report.ReasonPassed}
	want.Normalise()
	if err := emit(&log, file, want); err != nil {
		t.Fatal(err)
	}
	encoded, err := report.ReadFrame(&log)
	if err != nil {
		t.Fatal(err)
	}
	message, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := report.DecodeSummary(message)
	if err != nil {
		t.Fatal(err)
	}
	if summary.SHA256 != report.Sum(encoded) || summary.Bytes != len(encoded) || summary.Verdict != want.Verdict {
		t.Errorf("summary %+v does not fit the frame", summary)
	}
	if got, err := report.Decode(encoded); err != nil || got.Reason != want.Reason {
		t.Errorf("frame holds %+v, %v", got, err)
	}
}

func TestNowhereToWrite(t *testing.T) {
	if err := emit(&bytes.Buffer{}, filepath.Join(t.TempDir(), "no", "file"), report.Report{}); err == nil {
		t.Error("a summary that went nowhere was no error")
	}
}
