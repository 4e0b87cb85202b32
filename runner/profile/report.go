package profile

import (
	"path"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Report is the profile as it is published: by capability and phase, in the
// order of the session. Within each list what matters most comes first, so that
// the caps of the report cut the rest.
func (p Profile) Report() report.Profile {
	effects := p.merged()
	var out report.Profile
	index := map[section]int{}
	for _, e := range effects {
		s := e.section()
		if _, ok := index[s]; !ok {
			index[s] = len(out.Capabilities)
			out.Capabilities = append(out.Capabilities, report.CapabilityProfile{Kind: s.kind, Name: s.name, Phase: s.phase})
		}
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return int(b.identity().rank("")) - int(a.identity().rank("")) })
	started := map[string]bool{}
	for _, e := range effects {
		if e.Kind == KindExec && e.Error == "" {
			started[path.Base(e.Path)] = true
		}
	}
	for _, e := range effects {
		if e.Kind == KindExec && e.Error == "ENOENT" && started[path.Base(e.Path)] {
			continue // a step of the search along PATH, which succeeded
		}
		add(&out.Capabilities[index[e.section()]], e)
	}
	return out
}

// section is a part of the published profile.
type section struct {
	kind  report.CapabilityKind
	name  string
	phase report.Phase
}

func (e Effect) section() section { return section{e.Capability.Kind, e.Capability.Name, e.Phase} }

// merged are the effects without what the published profile does not tell
// apart: the attribution.
func (p Profile) merged() []Effect {
	type place struct {
		section
		identity
	}
	index := map[place]int{}
	var effects []Effect
	for _, e := range p.Effects {
		at := place{e.section(), e.identity()}
		if i, ok := index[at]; ok {
			effects[i].Count += e.Count
			continue
		}
		index[at] = len(effects)
		effects = append(effects, e)
	}
	return effects
}

func add(c *report.CapabilityProfile, e Effect) {
	file := report.FileAccess{Path: e.Path, Operation: e.Operation, Error: e.Error, Count: e.Count}
	switch e.Kind {
	case KindRead:
		c.Reads = append(c.Reads, file)
	case KindWrite:
		c.Writes = append(c.Writes, file)
	case KindAttempt:
		c.Attempts = append(c.Attempts, file)
	case KindExec:
		c.Execs = append(c.Execs, report.Exec{Path: e.Path, Argv: e.Argv, Error: e.Error, Count: e.Count})
	case KindConnect:
		c.Connects = append(c.Connects, e.Connection())
	case KindListen:
		c.Listens = append(c.Listens, e.Connection())
	}
}
