package cluster

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) showCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a verdict and why: findings, coverage, drift, history", Args: cli.Args(1, 1), ValidArgsFunction: s.completeAudit,
		Long: `Show a verdict and why: findings, coverage, drift, history. The output wide has all
that was observed; json and the others are the report, as of mcpaudit run -o.`,
		Example: s.examples("show notes", "show notes -o wide", "show notes -o json > report.json", "show notes -o sarif > notes.sarif"),
		RunE: s.connected(func(ctx context.Context, a *api, args []string) error {
			audit, err := a.audit(ctx, args[0])
			if err != nil {
				return err
			}
			return s.show(ctx, a, audit, output)
		}),
	}
	cli.Output(c, &output, outputs()...)
	return c
}

func (s *session) show(ctx context.Context, a *api, audit *v1alpha1.MCPServerAudit, output string) error {
	v, err := a.view(ctx, audit)
	switch {
	case err != nil:
		return err
	case output == "table", output == "wide":
		return v.print(s, output == "wide")
	case v.report == nil:
		return fmt.Errorf("%s; see its status with kubectl get mcpserveraudit %s -n %s -o %s", v.missing(), audit.Name, audit.Namespace,
			statusOutput(output))
	}
	if !settled(audit) {
		line(s.stderr(), "The spec of %s has changed since this report.", render.Escape(place(audit)))
	}
	f, _ := render.FormatNamed(output)
	if f.Name == "json" || f.Name == "yaml" {
		return cli.WriteReport(s.stdout(), f, *v.report) // as stored
	}
	return cli.WriteReport(s.stdout(), f, v.current())
}

// current returns the report for formats that pipelines read. As in a policy report, an
// outdated Pass becomes Inconclusive.
func (v *view) current() report.Report {
	r, ready := *v.report, condition(v.audit, v1alpha1.ConditionReady)
	why := report.Incomplete{Reason: "NotCurrent", Message: "the spec has changed since the audit passed; it has no verdict yet"}
	switch {
	case r.Verdict != report.VerdictPass:
		return r
	case !settled(v.audit):
	case ready == nil || ready.Status != metav1.ConditionTrue:
		why.Message = "the audit passed but is no longer Ready"
		if ready != nil {
			why.Message += " (" + ready.Reason + "): " + ready.Message
		}
	default:
		return r
	}
	r.Verdict, r.Reason, r.Message, r.Incomplete = report.VerdictInconclusive, why.Reason, why.Message, &why
	return r
}

// statusOutput returns kubectl's output format closest to ours.
func statusOutput(output string) string {
	if output == "json" {
		return output
	}
	return "yaml"
}

type view struct {
	audit  *v1alpha1.MCPServerAudit
	report *report.Report                 // of the last audit; nil if there is none
	kept   []metav1.PartialObjectMetadata // latest first
}

func (a *api) view(ctx context.Context, audit *v1alpha1.MCPServerAudit) (*view, error) {
	v := &view{audit: audit}
	var err error
	if v.kept, err = a.reports(ctx, audit); err != nil {
		return nil, err
	}
	if ref := audit.Status.ReportRef; ref != nil {
		last, err := a.report(ctx, ref.Name)
		if err != nil {
			return nil, err
		}
		if last != nil {
			v.report = &last.Spec.Report
		}
	}
	return v, nil
}

// missing explains why there is no report.
func (v *view) missing() string {
	switch {
	case v.audit.Status.Verdict == "":
		return fmt.Sprintf("%s has not been audited yet", v.audit.Name)
	case v.audit.Status.ReportRef == nil:
		return fmt.Sprintf("the last audit of %s has no report", v.audit.Name)
	}
	return fmt.Sprintf("the report %s of %s has been deleted", v.audit.Status.ReportRef.Name, v.audit.Name)
}

// print writes the view as text; wide includes everything observed.
func (v *view) print(s *session, wide bool) error {
	var text strings.Builder
	v.head(s, &text)
	v.facts(s, &text)
	switch {
	case v.report == nil:
		v.findings(s, &text)
	case wide:
		if err := render.Body(&text, *v.report, s.colour()); err != nil {
			return err
		}
	default:
		if err := render.Brief(&text, *v.report, s.colour()); err != nil {
			return err
		}
	}
	if err := v.history(s, &text); err != nil {
		return err
	}
	_, err := io.WriteString(s.stdout(), text.String())
	return err
}

// head writes the verdict, its reason, and what the audit waits for.
func (v *view) head(s *session, w io.Writer) {
	a := v.audit
	of := verdict(a)
	if because := reason(a); because != "" && because != of {
		of += " (" + because + ")"
	}
	line(w, "%s: %s", render.Escape(place(a)), render.Verdict(a.Status.Verdict, of, s.colour()))
	ready, running := condition(a, v1alpha1.ConditionReady), auditing(a)
	switch {
	case ready == nil:
		line(w, "No status yet: is the operator running? (kubectl get pods -n mcpaudit-system)")
	case running == nil || running.Message != ready.Message:
		line(w, "%s", render.Escape(v.why(ready)))
	}
	if running != nil {
		line(w, "%s for %s: %s", render.Escape(running.Reason), duration.HumanDuration(max(s.now().Sub(running.LastTransitionTime.Time), 0)),
			render.Escape(running.Message))
	}
	if !settled(a) && a.Status.Verdict != "" {
		line(w, "The spec has changed since this verdict.")
	}
	line(w, "")
}

// why returns the message of Ready, without findings that are printed below.
func (v *view) why(ready *metav1.Condition) string {
	if v.report != nil && v.report.Message != "" && ready.Status == metav1.ConditionFalse && v.audit.Status.Verdict == v1alpha1.VerdictFail &&
		ready.Reason != v1alpha1.ReasonManifestDrifted && ready.Reason != v1alpha1.ReasonSuspended {
		text := v.report.Message
		if v.audit.Status.Drift != nil {
			text += "; and the manifest differs from the baseline"
		}
		return text
	}
	return ready.Message
}

// facts writes a line for each fact.
func (v *view) facts(s *session, w io.Writer) {
	a := v.audit
	fact := func(name, text string) {
		if text != "" {
			line(w, "%-9s %s", name, render.Escape(text))
		}
	}
	if r := v.report; r != nil {
		fact("Server", strings.TrimSpace(r.Server.Name+" "+r.Server.Version))
	}
	fact("Image", a.Spec.Server.Image)
	fact("", string(a.Status.ImageDigest))
	fact("Pin", pinned(a))
	fact("URL", a.Spec.Server.URL)
	fact("Audited", v.when(s.now()))
	if t := a.Status.Trigger; t != nil {
		fact("Because", strings.Join(present(string(t.Reason), t.Message), ": "))
	}
	fact("Next", v.next(s.now()))
	fact("Risk", risk(a))
	if f := a.Status.Findings; f != nil {
		fact("Findings", f.Counts().String())
	}
	fact("Exposure", v.exposure())
	if rests := assurance(a); v.report == nil && rests.Level != "" { // else it is in the coverage
		fact("Assurance", fmt.Sprintf("%s, of %s", rests.Level, rests.Basis()))
	}
	if c := condition(a, v1alpha1.ConditionScopeConformant); c != nil && a.Spec.DeclaredScope != nil {
		fact("Scope", c.Reason)
	}
	if c := condition(a, v1alpha1.ConditionManifestStable); c != nil && a.Status.Verdict != "" {
		fact("Manifest", strings.Join(present(string(a.Status.ManifestDigest), "("+c.Reason+")"), " "))
	}
	if r := a.Status.Runner; r != nil {
		fact("Runner", strings.Join(present(r.Version, r.Tracer), ", "))
	}
	switch {
	case v.report != nil:
		fact("Report", a.Status.ReportRef.Name)
	case a.Status.Verdict != "":
		fact("Report", "none: "+v.missing())
	}
}

// exposure formats the exposure: "28 Medium: FileRead (Partial)"; empty if the report shows it
// or there is none.
func (v *view) exposure() string {
	e := v.audit.Status.Exposure
	if v.report != nil || e == nil || len(e.Kinds) == 0 {
		return ""
	}
	return report.ExposureLine(int(e.Score), e.Level, e.Kinds)
}

// when returns the time of the last audit.
func (v *view) when(now time.Time) string {
	at := v.audit.Status.LastAuditTime
	if at == nil {
		return ""
	}
	text := moment(at.Time) + ", " + ago(at, now)
	if r := v.report; r != nil && r.EndTime.After(r.StartTime.Time) {
		text += ", took " + duration.HumanDuration(r.EndTime.Sub(r.StartTime.Time))
	}
	return text
}

func (v *view) next(now time.Time) string {
	at := v.audit.Status.NextAuditTime
	switch {
	case v.audit.Spec.Suspend:
		return "suspended"
	case at == nil:
		return ""
	case at.After(now):
		return moment(at.Time) + ", in " + duration.HumanDuration(at.Sub(now))
	}
	return moment(at.Time) + ", due"
}

// findings writes the status's findings for an audit without a report.
func (v *view) findings(s *session, w io.Writer) {
	for _, f := range v.audit.Status.TopFindings {
		severity := report.Severity(f.Severity)
		line(w, "")
		line(w, "%s %s", render.Severity(severity, fmt.Sprintf("%-9s", f.Severity), s.colour()), render.Escape(f.Rule))
		for _, text := range present(f.Message, f.Evidence, f.Suppressed) {
			line(w, "          %s", render.Escape(text))
		}
	}
	if d := v.audit.Status.Drift; d != nil {
		line(w, "")
		line(w, "Since the baseline (manifest %s)", render.Escape(string(v.audit.Status.BaselineDigest)))
		for _, part := range []struct {
			sign  string
			names []string
		}{{"+", d.Added}, {"-", d.Removed}, {"~", d.Renamed}, {"~", d.Changed}} {
			for _, name := range part.names {
				line(w, "  %s %s", part.sign, render.Escape(name))
			}
		}
	}
}

// history writes the last audits and their reports.
func (v *view) history(s *session, w io.Writer) error {
	if len(v.audit.Status.History) == 0 {
		return nil
	}
	kept := map[string]bool{}
	for _, one := range v.kept {
		kept[one.Name] = true
	}
	line(w, "")
	line(w, "History")
	var rows [][]cell
	for _, h := range v.audit.Status.History {
		name := h.Run
		if !kept[h.Run] {
			name = ""
		}
		rows = append(rows, []cell{
			{text: moment(h.Time.Time)},
			{text: string(h.Verdict), paint: func(padded string) string { return render.Verdict(h.Verdict, padded, s.colour()) }},
			{text: h.Reason}, {text: string(h.Trigger)}, {text: name},
		})
	}
	return table(w, "  ", rows)
}

func line(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) } // into memory

func present(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}
