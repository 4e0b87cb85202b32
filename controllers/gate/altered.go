package gate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Additions has what a container adds to its image besides the fields that Container compares, and
// through which it could run code that the audit did not see.
type Additions struct {
	// Mounts are the paths at which volumes and devices are mounted, sorted.
	Mounts []string
	// Commands are the fields by which the kubelet executes commands ("livenessProbe.exec"),
	// sorted.
	Commands []string
}

// Alteration describes a way for a container to run code that the audit did not see.
type Alteration struct {
	// What is a phrase such as "but mounts a volume at /app", Fix the remedy.
	What, Fix string
}

// littleExercised returns what an audit left out of the default exercise; empty if nothing. A
// pass by less is no evidence for a policy with onAltered. Network Deny counts: the server knew
// that it had no network, so what it would have sent was not seen.
func littleExercised(e *v1alpha1.AuditedExercise) string {
	switch {
	case e == nil:
		return "it does not record how the server was exercised"
	case e.Calls != "" && e.Calls != report.CallsAll:
		return "its probe.calls was " + string(e.Calls)
	case e.SkippedTools > 0:
		return fmt.Sprintf("its probe.skipTools left out %d tools", e.SkippedTools)
	case e.Rounds < plan.DefaultRounds:
		return fmt.Sprintf("its probe.rounds was %d, not %d", e.Rounds, plan.DefaultRounds)
	case e.MaxCallsPerTool < plan.DefaultMaxCallsPerTool:
		return fmt.Sprintf("its probe.maxCallsPerTool was %d, not %d", e.MaxCallsPerTool, plan.DefaultMaxCallsPerTool)
	case e.Timeout.Duration > 0 && e.Timeout.Duration < plan.DefaultTimeout:
		return fmt.Sprintf("its timeout was %s, not %s", e.Timeout.Duration, plan.DefaultTimeout)
	case e.CallTimeout.Duration > 0 && e.CallTimeout.Duration < plan.DefaultCallTimeout:
		return fmt.Sprintf("its probe.callTimeout was %s, not %s", e.CallTimeout.Duration, plan.DefaultCallTimeout)
	case e.Depth == report.DepthQuick:
		return "its probe.depth was Quick"
	case e.Attack == plan.AttackOff:
		return "its probe.attack was Off"
	case e.Network == report.NetworkDeny:
		return "its sandbox.network was Deny"
	}
	return ""
}

// alteration returns the first way for the container to run unaudited code, or nil. same means
// that the audit had the container's environment.
func (c Container) alteration(v *Verdict, same bool) *Alteration {
	if c.Role == RoleImageVolume { // it runs nothing
		return nil
	}
	for _, find := range []func(*Verdict, bool) *Alteration{c.byVariable, c.byDirectory, c.byMount, c.byCommand} {
		if found := find(v, same); found != nil {
			return found
		}
	}
	return nil
}

func (c Container) byVariable(v *Verdict, same bool) *Alteration {
	env := c.Environment
	set := func(name, loads string) *Alteration {
		return &Alteration{fmt.Sprintf("but sets %s, and %s", name, loads), "remove the variable, or set it in the image"}
	}
	interprets := slices.Contains(v.CodePaths, codepath.Home)
	const below = "its interpreter loads code from below it"
	if !same {
		for _, name := range sortedNames(env.Variables) {
			if interprets && codepath.MovesHome(name) {
				return set(name, below)
			}
			if loads := environ.Loads(name, env.Variables[name]); loads != "" {
				return set(name, loads)
			}
		}
	}
	for _, name := range env.Unread {
		if interprets && codepath.MovesHome(name) {
			return set(name, below)
		}
		if loads := environ.LoadsUnknown(name); loads != "" {
			return set(name, loads)
		}
	}
	if env.From {
		return &Alteration{"but has an envFrom, which may set variables by which programs load code", "name each variable in env, with valueFrom"}
	}
	return nil
}

func (c Container) byDirectory(v *Verdict, _ bool) *Alteration {
	dir := c.Environment.WorkingDir
	if dir == "" || v.WorkingDir != "" && path.Clean(dir) == path.Clean(v.WorkingDir) {
		return nil
	}
	return &Alteration{fmt.Sprintf("but is run in the working directory %s", dir), "remove workingDir, or have it audited with it"}
}

func (c Container) byMount(v *Verdict, _ bool) *Alteration {
	for _, mount := range c.Additions.Mounts {
		code := codepath.Altered(mount, v.CodePaths)
		switch {
		case code == "":
		case len(v.CodePaths) == 0 && code == codepath.Clean(mount):
			return &Alteration{fmt.Sprintf("but mounts a volume at %s, and it is not known where its code is", mount), "have it audited again"}
		default:
			return &Alteration{fmt.Sprintf("but mounts a volume at %s, and has code at %s", mount, code), "mount it elsewhere, or build it into the image"}
		}
	}
	return nil
}

func (c Container) byCommand(*Verdict, bool) *Alteration {
	if len(c.Additions.Commands) == 0 {
		return nil
	}
	fix := "remove it"
	if strings.Contains(c.Additions.Commands[0], "Probe") {
		fix = "probe it by httpGet, tcpSocket or grpc"
	}
	return &Alteration{"but has a " + c.Additions.Commands[0], fix}
}

// altering is a container compared with a verdict.
type altering struct {
	container int
	verdict   *Verdict
	same      bool
}

// alteration compares a container with a verdict, once for all policies.
func (d *decider) alteration(of altering) *Alteration {
	found, known := d.alterations[of]
	if !known {
		found = d.subject.Containers[of.container].alteration(of.verdict, of.same)
		if d.alterations == nil {
			d.alterations = map[altering]*Alteration{}
		}
		d.alterations[of] = found
	}
	return found
}

// strict applies a policy's onAltered to what a container adds to its image.
func (d *decider) strict(p *Policy, found held, w wanted, container int) (held, *Alteration) {
	if found.verdict == nil || weight(p.Gate.OnAltered) <= weight(found.action) {
		return found, nil
	}
	v, same := found.verdict, false
	if w.own != nil && w.own.best.verdict != nil && w.own.best.standing == found.standing {
		v, same = w.own.best.verdict, true
	}
	alteration := d.alteration(altering{container, v, same})
	if alteration == nil {
		return found, nil
	}
	return held{standing: standing{v1alpha1.GateAltered, p.Gate.OnAltered}, verdict: v}, alteration
}

func compareAdditions(a, b Additions) int {
	return cmp.Or(slices.Compare(a.Mounts, b.Mounts), slices.Compare(a.Commands, b.Commands))
}
