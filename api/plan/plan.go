// Package plan describes an audit to make. The manager writes a Plan into the audit Pod, where
// the runner reads it; the command line makes one from its flags. Defaults and ranges are
// declared here; tests compare the CRD with them.
package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Variable is the environment variable that has the runner's plan as JSON.
const Variable = "MCPAUDIT_PLAN"

// Plan says what to audit and how to judge it. Optional fields have defaults.
type Plan struct {
	// Timeout bounds the whole audit. An audit that is cut off is Inconclusive.
	Timeout Duration `json:"timeout"`
	// FailOn is the lowest severity that makes the verdict Fail; none does if empty.
	FailOn report.Severity `json:"failOn,omitempty"`
	// MinAssurance is the lowest assurance of a Pass; report.DefaultMinAssurance if empty.
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`
	// Command of the server, which the launcher runs.
	Command []string `json:"command,omitempty"`
	// Shipped is how many words of Command, from the first on, the server's image or package brings: its publisher
	// chose them, and not whoever asked for the audit.
	Shipped int `json:"shipped,omitempty"`
	// Network says how the sandbox handles connections; Sinkhole if empty.
	Network report.Network `json:"network,omitempty"`
	Tracer  Tracer         `json:"tracer,omitempty"`
	// Transport is Auto if empty. Auto may have a Port (1 to 65535) and a Path ("/mcp"); the
	// transports over HTTP need a URL or a Port.
	Transport report.Transport `json:"transport"`
	Port      uint16           `json:"port,omitempty"`
	Path      string           `json:"path,omitempty"`
	URL       string           `json:"url,omitempty"`
	// APIServers are the addresses of the cluster's API server. URL must not lead there.
	APIServers []netip.Addr `json:"apiServers,omitempty"`
	// Scope says what the operator allows; if nil, the manifest decides.
	Scope *report.DeclaredScope `json:"declaredScope,omitempty"`
	// Suppressions accept known findings.
	Suppressions []report.Suppression `json:"suppressions,omitempty"`
	// Probe says how the server is exercised.
	Probe Probe `json:"probe,omitzero"`
}

// Tracer is the program that traces. All tracers give the same events.
type Tracer string

// The tracers.
const (
	// TracerAuto is strace if the machine has a usable one, else our own.
	TracerAuto Tracer = "Auto"
	// TracerStrace is the machine's strace, 6.1 or newer.
	TracerStrace Tracer = "Strace"
	// TracerPtrace is our own (runner/ptrace). A process to trace has to call ptrace.Install
	// before its exec, and dies with the tracer.
	TracerPtrace Tracer = "Ptrace"
)

// Tracers lists all tracers, the default first.
var Tracers = []Tracer{TracerAuto, TracerStrace, TracerPtrace}

// Read parses and checks a plan. It refuses what this version does not know, which a manager
// of another version may ask for.
func Read(text string) (Plan, error) {
	var p Plan
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return Plan{}, fmt.Errorf("read %s: %w", Variable, err)
	}
	p.Network, p.Transport = cmp.Or(p.Network, report.NetworkSinkhole), cmp.Or(p.Transport, TransportAuto)
	return p, nil
}

func (p Plan) check() error {
	listens := ByName(p.Transport).Listens
	return errors.Join(
		demand(p.Timeout.Duration > 0, "timeout: invalid value %q (want more than 0s)", p.Timeout),
		known("failOn", p.FailOn, report.Severities),
		known("minAssurance", p.MinAssurance, report.AssuranceLevels),
		known("tracer", p.Tracer, Tracers),
		known("network", p.Network, report.Networks),
		known("transport", p.Transport, append([]report.Transport{TransportAuto}, report.Transports...)),
		known("probe.calls", p.Probe.Calls, report.CallsChoices),
		known("probe.depth", p.Probe.Depth, report.Depths),
		known("probe.attack", p.Probe.Attack, Attacks),
		demand(p.Probe.CallTimeout.Duration >= 0, "probe.callTimeout: invalid value %q (want more than 0s)", p.Probe.CallTimeout),
		demand(p.URL == "" || listens, "url needs a transport over HTTP"),
		demand(p.URL != "" || !listens || p.Port != 0, "port is required with a transport over HTTP"),
		demand(p.Port == 0 || p.Transport != report.TransportStdio, "port is for a server that listens"),
	)
}

// known accepts an empty word, which stands for the default.
func known[T ~string](field string, word T, words []T) error {
	if word == "" {
		return nil
	}
	return OneOf(field, word, words...)
}

// OneOf returns an error unless a setting has one of the words.
func OneOf[T ~string](key string, word T, words ...T) error {
	return demand(slices.Contains(words, word), "%s: invalid value %q (want one of %q)", key, word, words)
}

func demand(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// Duration is a time.Duration that JSON has as text, such as "1m30s".
type Duration struct{ time.Duration }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}
