package rules

import (
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// proof shows both sides of a rule: what it is there to find, and what comes near
// that and is none of its business.
type proof struct {
	finds, spares []Input
	// judge is how it is found, where Judge is not.
	judge func(Input) []report.Finding
}

// proven are all proofs by the id of their rule.
var proven = map[string]proof{}

// prove enters the proofs of a family: each test file has its own
// `var _ = prove(map[string]proof{...})`.
func prove(family map[string]proof) bool {
	for id, p := range family {
		if _, twice := proven[id]; twice {
			panic("two proofs of " + id)
		}
		proven[id] = p
	}
	return true
}

// Every rule finds what it is there for, and spares what only looks like it.
func TestProofs(t *testing.T) {
	known := map[string]bool{}
	for _, r := range All() {
		known[r.ID] = true
		p := proven[r.ID]
		if len(p.finds) == 0 || len(p.spares) == 0 {
			t.Errorf("%s has proofs of %d finds and %d spares, want one of each", r.ID, len(p.finds), len(p.spares))
		}
		if p.judge == nil {
			p.judge = Judge
		}
		gives := func(in Input) bool {
			return slices.ContainsFunc(p.judge(in), func(f report.Finding) bool { return f.Rule == r.ID })
		}
		for i, in := range p.finds {
			if !gives(in) {
				t.Errorf("%s does not find %d: %q", r.ID, i, lines(p.judge(in)))
			}
		}
		for i, in := range p.spares {
			if gives(in) {
				t.Errorf("%s does not spare %d: %q", r.ID, i, lines(p.judge(in)))
			}
		}
	}
	for id := range proven {
		if !known[id] {
			t.Errorf("a proof of %s, which is no rule", id)
		}
	}
}

// one is a list of one input, for proofs of few words.
func one(s server, effects ...profile.Effect) []Input { return []Input{input(s, effects...)} }

// altered is a list of one input that more than effects are part of.
func altered(change func(*Input)) []Input {
	in := input(silent)
	change(&in)
	return []Input{in}
}

func broken(kind breach.Kind) []Input {
	return altered(func(in *Input) { in.Breaches = []breach.Breach{{Kind: kind, Count: 1, Sample: "x"}} })
}

var (
	cloudy  = server{name: "ec2", tools: []string{"format_note: Fetches the list of EC2 instances from AWS."}}
	webby   = server{name: "web", tools: []string{"format_note: Fetches a web page."}}
	shelly  = server{name: "sh", tools: []string{"format_note: Runs a shell command."}}
	dockery = server{name: "docker", tools: []string{"format_note: Lists Docker containers."}}
	gitty   = server{name: "git", tools: []string{"format_note: Clones a git repository."}}
)

var _ = prove(map[string]proof{
	"MCPA-EGRESS-001": {finds: one(local, connect(call, "tcp", "93.184.216.34", 80)), spares: one(webby, connect(call, "tcp", "93.184.216.34", 80))},
	"MCPA-EGRESS-002": {finds: one(webby, connect(call, "tcp", "169.254.169.254", 80)), spares: one(cloudy, connect(call, "tcp", "169.254.169.254", 80))},
	"MCPA-FILE-001":   {finds: one(silent, read(call, "/root/.ssh/id_ed25519")), spares: one(silent, read(call, "/root/.ssh/id_ed25519.pub"))},
	"MCPA-EXEC-001":   {finds: one(silent, run(call, "/bin/sh", "-c", "id")), spares: one(shelly, run(call, "/bin/sh", "-c", "id"))},
	"MCPA-SECRET-001": {finds: one(silent, read(call, home+"/.ssh/id_rsa")), spares: one(silent, read(call, home+"/.ssh/id_rsa.pub"))},
	"MCPA-SECRET-002": {
		finds: altered(func(in *Input) { in.Leaks = []leak.Leak{gone(stolen, "TCP", "93.184.216.34:80")} }),
		spares: altered(func(in *Input) {
			l := gone(variable, "HTTPS", "api.github.com:443")
			l.Home = true // the service that issued it
			in.Leaks = []leak.Leak{l}
		}),
	},
	"MCPA-PERSIST-001": {
		finds:  one(silent, with(read(call, "/src/.git/hooks/pre-commit"), func(e *profile.Effect) { e.Kind = profile.KindWrite })),
		spares: one(gitty, with(read(call, "/src/.git/config"), func(e *profile.Effect) { e.Kind = profile.KindWrite })),
	},
	"MCPA-SOCKET-001": {
		finds:  one(silent, connect(call, "unix", "/var/run/docker.sock", 0)),
		spares: one(dockery, connect(call, "unix", "/var/run/docker.sock", 0)),
	},
	"MCPA-EVADE-001": {finds: one(silent, evade(call, "ptrace", "EPERM", true)), spares: one(silent, evade(startup, "io_uring_setup", "ENOSYS", true))},

	"MCPA-PROTOCOL-001": {
		finds:  altered(func(in *Input) { in.Pollution = Pollution{Lines: 1, Sample: "hello"} }),
		spares: altered(func(*Input) {}),
	},
	"MCPA-PROTOCOL-002": {finds: broken(breach.CursorTwice), spares: broken(breach.Oversized)},
	"MCPA-PROTOCOL-003": {finds: broken(breach.Oversized), spares: broken(breach.LongList)},
	"MCPA-PROTOCOL-004": {finds: broken(breach.Malformed), spares: broken(breach.Oversized)},
	"MCPA-PROTOCOL-005": {finds: broken(breach.Unasked), spares: broken(breach.Flood)},
	"MCPA-PROTOCOL-006": {finds: broken(breach.SameName), spares: broken(breach.Nameless)},
	"MCPA-PROTOCOL-007": {finds: broken(breach.Flood), spares: broken(breach.Twice)},
})
