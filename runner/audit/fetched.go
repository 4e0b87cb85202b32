package audit

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// registries serve package managers, and clients that look for the newest version.
var registries = append(sinkhole.RegistriesOf([]string{"npm", "pip"}).Absent,
	"rubygems.org", "crates.io", "proxy.golang.org", "repo.maven.apache.org",
)

// codeHosts serve only packages and modules.
var codeHosts = []string{"deno.land", "esm.sh", "unpkg.com", "jsdelivr.net", "files.pythonhosted.org"}

// fetched returns why a Pass would be about code that was downloaded when the server started, because the same
// command may run other code next time. Evidence is a package manager, a program or module that was written after the
// network had been reached, or an interpreter whose program came through a pipe or as an argument.
func fetched(plan Plan, runs []observation) report.Incomplete {
	if plan.Network != report.NetworkAllow {
		return report.Incomplete{} // nothing was received
	}
	f := fetching{command: plan.Command, written: map[string]bool{}}
	for _, o := range runs {
		if from, how := f.run(o.profile.Effects); how != "" {
			return report.Incomplete{Reason: report.ReasonCodeFetched,
				Message: fmt.Sprintf("the server fetched code at its start, from %s (%s): what runs the next time may be other code", from, how)}
		}
	}
	return report.Incomplete{}
}

// fetching collects which downloaded code the launches of a server ran.
type fetching struct {
	command []string
	// written are files that any launch wrote after it had reached the network, because the next one may load them.
	// late has the position of the first write in the current launch, as a number of effects.
	written map[string]bool
	late    map[string]int
	// hosts are the hosts, or else addresses, that were reached so far; effects are those of one launch.
	hosts   []string
	effects []profile.Effect
}

// run returns where a launch got code from, and how; how is "" if it got none.
func (f *fetching) run(effects []profile.Effect) (from, how string) {
	f.effects, f.late = nil, map[string]int{}
	for _, e := range effects {
		if e.Phase != report.PhaseStartup || e.Error != "" {
			continue
		}
		f.effects = append(f.effects, e)
		switch {
		case e.Kind == profile.KindConnect || e.Kind == profile.KindSend:
			f.hosts = append(f.hosts, reached(e)...)
		case changes(e) && (len(f.hosts) > 0 || e.Count > 1):
			// A repeated effect may have occurred later, too.
			if !f.written[e.Path] {
				f.late[e.Path] = len(f.effects)
			}
			f.written[e.Path] = true
		}
	}
	for _, host := range f.hosts {
		if isOf(host, codeHosts) {
			return host, "it serves code"
		}
	}
	for i, e := range f.effects {
		if how := f.brings(i, e); how != "" && len(f.hosts) > 0 {
			return cmp.Or(f.registry(), f.hosts[0]), how
		}
	}
	return "", ""
}

// brings returns how an effect runs downloaded code; "" if it does not.
func (f *fetching) brings(i int, e profile.Effect) string {
	switch e.Kind {
	case profile.KindExec:
		return f.executes(i, e)
	case profile.KindRead:
		if f.written[e.Path] && code.MatchString(e.Path) {
			return fmt.Sprintf("it loaded %s, which it had written", e.Path)
		}
	case profile.KindWrite, profile.KindStore:
		if f.written[e.Path] && (loaded.MatchString(e.Path) || modules.MatchString(e.Path)) {
			return "it wrote " + e.Path
		}
	case profile.KindSend:
		if found := request.FindString(e.Detail); found != "" {
			return "it asked for " + strings.TrimSpace(found)
		}
	}
	return ""
}

// executes returns how a started program runs downloaded code.
func (f *fetching) executes(i int, e profile.Effect) string {
	p := parseProgram(e)
	switch {
	case f.written[e.Path]:
		return fmt.Sprintf("it executed %s, which it had written", e.Path)
	case p.installs, p.resolves && f.registry() != "":
		return p.name + " fetches packages"
	case p.downloads:
		return p.name + " prints what it fetches"
	case p.interprets:
		return f.interprets(p, i, e)
	}
	return ""
}

// interprets returns how an interpreter got downloaded code as its program.
func (f *fetching) interprets(p program, i int, e profile.Effect) string {
	switch {
	case p.remote:
		return p.name + " runs what is at a URL"
	case p.stdin:
		return p.name + " was given its program by a pipe"
	case p.inline != "" && (!p.shell || strings.Contains(p.inline, "\n")) && f.follows(i) && !f.given(p.inline): // one line is a command
		return p.name + " was given its program as an argument"
	}
	if address := codeURL.FindString(strings.Join(e.Argv.Words(), " ")); address != "" {
		return p.name + " was given " + address
	}
	for file := range f.written {
		if at, late := f.late[file]; late && at > i && e.Count <= 1 {
			continue
		}
		if slices.ContainsFunc(e.Argv.Words(), func(arg string) bool { return names(arg, file) }) {
			return fmt.Sprintf("%s executed %s, which had been written", p.name, file)
		}
	}
	return ""
}

// follows reports whether an effect came after the network had been reached.
func (f *fetching) follows(i int) bool {
	return slices.ContainsFunc(f.effects[:i], func(e profile.Effect) bool { return len(reached(e)) > 0 })
}

// given reports whether the server's command contains a text.
func (f *fetching) given(text string) bool {
	return slices.ContainsFunc(f.command, func(arg string) bool { return strings.Contains(arg, text) })
}

// registry returns the registry that was reached; "" for none.
func (f *fetching) registry() string {
	i := slices.IndexFunc(f.hosts, func(host string) bool { return isOf(host, registries) })
	if i < 0 {
		return ""
	}
	return f.hosts[i]
}

// reached returns the host, or else the address, that code may come from.
func reached(e profile.Effect) []string {
	if e.Kind != profile.KindConnect && e.Kind != profile.KindSend {
		return nil
	}
	address, err := netip.ParseAddr(e.Address)
	switch {
	case err != nil || address.IsLoopback():
		return nil
	case e.Protocol == "tcp", e.Protocol == "udp" && e.Port == portTLS: // QUIC
		return []string{cmp.Or(e.Host, e.Address)}
	}
	return nil
}

// changes reports whether an effect may have changed the content of a file.
func changes(e profile.Effect) bool {
	if e.Kind != profile.KindWrite {
		return e.Kind == profile.KindStore
	}
	return slices.ContainsFunc([]string{"open", "creat", "rename", "link", "symlink", "mmap"},
		func(call string) bool { return strings.HasPrefix(e.Operation, call) })
}

// names reports whether an argument is the name of a file, relative to any directory above it.
func names(arg, file string) bool {
	arg = path.Clean(arg)
	return arg == file || arg != "." && strings.HasSuffix(file, "/"+strings.TrimPrefix(arg, "/")) && !path.IsAbs(arg)
}

// isOf reports whether a host belongs to one of some domains.
func isOf(host string, domains []string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(domains, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

// How code is recognized by its name: source that an interpreter reads, files that a loader maps without reads that
// are effects, and directories from which modules are loaded.
var (
	code    = lazyregexp.New(`\.(?:[cm]?[jt]sx?|py[cwz]?|pth|rb|p[lm]|php|lua|sh|bash|ps1|wasm|clj|groovy|exs?)$`)
	loaded  = lazyregexp.New(`\.(?:so(?:\.[\d.]+)?|node|wasm|dll|jar|class|whl|egg)$`)
	modules = lazyregexp.New(`/(?:node_modules|site-packages|dist-packages|gems)/(?:[^.].*\.(?:[cm]?js|py|pth|rb))$`)

	codePath = `\.(?:[cm]?[jt]sx?|py[cz]?|rb|p[lm]|php|lua|sh|bash|ps1|wasm|jar|whl|tgz)`
	codeURL  = lazyregexp.New(`https?://[^\s'"<>)]+` + codePath + `\b`)
	request  = lazyregexp.New(`(?:GET|POST) /[^\s'"]*` + codePath + `(?:\?[^\s'"]*)? `)
)
