// Package least makes policies from the observations of an audit: they allow what the server used, and
// nothing else. It is pure; the command line calls Generate.
//
// A policy is no better than its audit. It does not allow what was not exercised, so an incomplete audit
// makes none unless the caller insists. It leaves out what a finding is about, so that a server that failed
// cannot repeat that under the policy, as far as the mechanism reaches.
// Comments in each policy name the audit, and what was left out.
package least

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Source is an audit.
type Source struct {
	Report report.Report
	// Image and ImageDigest are those of an audit in a cluster; else empty.
	Image, ImageDigest string
}

// Options describe the deployment, which the report does not know.
type Options struct {
	// Name of the objects, and of the Deployment or Pod; the server's name if empty.
	// It is a DNS label (RFC 1123).
	Name string
	// Container is the server's in the Pod; Name if empty.
	Container string
	// Workload is Deployment or Pod; Deployment if empty.
	Workload string
	// Selector is the label, as "key=value", by which network policies find the Pods;
	// app.kubernetes.io/name=Name if empty.
	Selector string
	// LocalhostProfile is the path of the seccomp profile below the kubelet's
	// seccomp root; mcpaudit/NAME.json if empty.
	LocalhostProfile string
	// AllowIncomplete accepts an incomplete audit.
	AllowIncomplete bool
}

// Kind is a kind of policy.
type Kind struct {
	// Name is the value of --type, File the name of the output, About a line of help.
	Name, File, About string
	write             func(basis) (string, error)
}

// Kinds lists all kinds in the order of the help.
var Kinds = []Kind{
	{"securitycontext", "securitycontext.yaml", "strategic-merge patch of a Deployment or Pod", securityContext},
	{"seccomp", "seccomp.json", "seccomp profile of containerd, CRI-O and runc, for Localhost", seccompJSON},
	{"spo", "spo.yaml", "SeccompProfile of the security-profiles-operator", seccompObject},
	{"networkpolicy", "networkpolicy.yaml", "NetworkPolicy of Kubernetes, by address", networkPolicy},
	{"cilium", "cilium.yaml", "CiliumNetworkPolicy, by host name", ciliumPolicy},
	{"toolhive", "toolhive.json", "permission profile of ToolHive", toolhive},
}

// KindNamed returns the kind of that name; false for none.
func KindNamed(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Policy is a generated policy.
type Policy struct {
	Text string
	// Notes are lines for the reader; Text has them, too.
	Notes []string
}

// The errors of Generate, which wrap the reason.
var (
	// ErrNothing: the report does not say what the server needs.
	ErrNothing = errors.New("no policy can be made of this report")
	// ErrIncomplete: the audit did not see everything.
	ErrIncomplete = errors.New("the audit did not see everything, and what was not seen would be forbidden")
)

// label matches a DNS label (RFC 1123), selector a label of an object, file a relative path.
var (
	label    = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	selector = lazyregexp.New(`^([-a-z0-9.]{1,253}/)?[A-Za-z0-9][-\w.]{0,62}=[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$`)
	file     = lazyregexp.New(`^[A-Za-z0-9][-\w.]*(/[A-Za-z0-9][-\w.]*)*$`)
)

// Generate makes the policy of one kind.
func Generate(s Source, k Kind, o Options) (Policy, error) {
	if err := o.complete(s.Report.Server.Name); err != nil {
		return Policy{}, err
	}
	if s.Report.Privileges == nil {
		why := "it was made by an mcpaudit that did not record it: audit the server again"
		if s.Report.Server.URL != "" {
			why = "the server runs elsewhere, and nothing of it was traced"
		}
		return Policy{}, fmt.Errorf("%w: %s", ErrNothing, why)
	}
	why := unseen(s.Report)
	if why != "" && !o.AllowIncomplete {
		return Policy{}, fmt.Errorf("%w: %s: audit it whole, or use --allow-incomplete", ErrIncomplete, why)
	}
	b := newBasis(s, o)
	if why != "" {
		b.note("WARNING: %s. What was not seen is forbidden here.", why)
	}
	text, err := k.write(b)
	return Policy{Text: text, Notes: b.notes.lines}, err
}

// unseen returns why a report is incomplete; empty if it is not.
func unseen(r report.Report) string {
	incomplete := "the audit did not end with a verdict"
	if r.Incomplete != nil {
		incomplete = fmt.Sprintf("%s: %s", plain(string(r.Incomplete.Reason)), plain(r.Incomplete.Message))
	}
	switch {
	case r.Incomplete != nil, r.Verdict != report.VerdictPass && r.Verdict != report.VerdictFail:
		return "the audit was incomplete (" + incomplete + ")"
	case r.Privileges.Dropped > 0:
		return fmt.Sprintf("the report had no room for %d of the things that the server did", r.Privileges.Dropped)
	case len(r.Truncated) > 0: // it may be the finding that would forbid something
		return fmt.Sprintf("the report had no room for %d of %s", r.Truncated[0].Dropped, plain(r.Truncated[0].Field))
	}
	return ""
}

// complete sets the empty options and validates all.
func (o *Options) complete(server string) error {
	o.Name = cmp.Or(o.Name, labelOf(server))
	o.Container = cmp.Or(o.Container, o.Name)
	o.Workload = cmp.Or(o.Workload, "Deployment")
	o.Selector = cmp.Or(o.Selector, "app.kubernetes.io/name="+o.Name)
	o.LocalhostProfile = cmp.Or(o.LocalhostProfile, "mcpaudit/"+o.Name+".json")
	switch {
	case !label.MatchString(o.Name):
		return fmt.Errorf("--name %q: it is a DNS label, such as notes", o.Name)
	case !label.MatchString(o.Container):
		return fmt.Errorf("--container %q: it is a DNS label, such as server", o.Container)
	case o.Workload != "Deployment" && o.Workload != "Pod":
		return fmt.Errorf("--workload %q: it is Deployment or Pod", o.Workload)
	case !selector.MatchString(o.Selector):
		return fmt.Errorf("--selector %q: it is one label, such as app=notes", o.Selector)
	case !file.MatchString(o.LocalhostProfile):
		return fmt.Errorf("--localhost-profile %q: it is a path below the kubelet's seccomp directory, such as mcpaudit/notes.json", o.LocalhostProfile)
	}
	return nil
}

// labelOf makes a DNS label from a server's name, which may be any text.
func labelOf(name string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	words := strings.FieldsFunc(strings.Map(keep, strings.ToLower(name[:min(len(name), 256)])), func(r rune) bool { return r == '-' })
	made := strings.Join(words, "-")
	return cmp.Or(strings.Trim(made[:min(len(made), 40)], "-"), "mcp-server")
}
