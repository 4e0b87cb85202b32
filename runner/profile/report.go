package profile

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Report returns the profile for publication: by capability and phase, in the order
// of the session, with a separate section for late effects of a call. Each list has
// the most important effects first, so that the report's caps cut the rest. Listed
// directories are reads whose path ends with a slash.
func (p Profile) Report() report.Profile {
	effects := p.merged()
	var out report.Profile
	index := map[section]int{}
	for _, e := range effects {
		if slices.Contains([]Kind{KindEvade, KindStore, KindLoad}, e.Kind) {
			continue // a finding, or not published
		}
		s := e.section()
		if _, ok := index[s]; !ok {
			index[s] = len(out.Capabilities)
			out.Capabilities = append(out.Capabilities, report.CapabilityProfile{
				Kind: s.of.Kind, Name: s.of.Name, Phase: s.phase, Late: s.late,
			})
		}
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return int(b.rank()) - int(a.rank()) })
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
		if i, ok := index[e.section()]; ok {
			add(&out.Capabilities[i], e)
		}
	}
	for _, e := range effects {
		if e.Kind == KindSend {
			send(&out.Capabilities[index[e.section()]], e)
		}
	}
	return out
}

// section is a part of the published profile.
type section struct {
	of    report.Capability
	phase report.Phase
	late  bool
}

func (e Effect) section() section { return section{e.Capability, e.Phase, e.Late()} }

// merged returns each effect of a section once, whichever rule attributed it.
func (p Profile) merged() []Effect {
	type place struct {
		section
		Fact
	}
	index := map[place]int{}
	var effects []Effect
	for _, e := range p.Effects {
		at := place{e.section(), e.Fact}
		at.Within, at.Program, at.Detached, at.Opening = "", "", false, "" // for rules only
		if i, ok := index[at]; ok {
			effects[i].Count += e.Count
			effects[i].Bytes += e.Bytes
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
	case KindList:
		file.Path = strings.TrimSuffix(file.Path, "/") + "/"
		c.Reads = append(c.Reads, file)
	case KindWrite:
		c.Writes = append(c.Writes, file)
	case KindDelete:
		c.Deletes = append(c.Deletes, file)
	case KindAttempt:
		c.Attempts = append(c.Attempts, file)
	case KindExec:
		c.Execs = append(c.Execs, report.Exec{Path: e.Path, Argv: e.Argv.Words(), Error: e.Error, Count: e.Count})
	case KindConnect:
		c.Connects = append(c.Connects, e.Connection())
	case KindListen:
		c.Listens = append(c.Listens, e.Connection())
	}
}

// send adds bytes to the connection that they went over. A connection made in another
// section gets a new entry.
func send(c *report.CapabilityProfile, e Effect) {
	for _, failed := range []bool{false, true} { // a connect in progress may have an error
		for i := range c.Connects {
			at := &c.Connects[i]
			if at.Address == e.Address && at.Port == e.Port && at.Protocol == e.Protocol && (at.Error != "") == failed &&
				(at.Host == e.Host || e.Host == "" || at.Host == "") {
				at.BytesOut += e.Bytes
				return
			}
		}
	}
	c.Connects = append(c.Connects, e.Connection())
}
