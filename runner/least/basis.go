package least

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// basis holds the input of policies: observed uses without those that findings are about, and the uses that
// the operator declared.
type basis struct {
	Source
	Options
	needs  report.Privileges
	egress []destination // that may be connected to
	dns    bool          // names have to be looked up
	notes  *notes
}

// notes are lines for the reader.
type notes struct{ lines []string }

func (b basis) note(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(b.notes.lines, line) {
		b.notes.lines = append(b.notes.lines, line)
	}
}

func newBasis(s Source, o Options) basis {
	b := basis{Source: s, Options: o, needs: *s.Report.Privileges, notes: &notes{}}
	if s.Report.Verdict == report.VerdictFail {
		b.note("WARNING: this server FAILED its audit. What its findings are about is left out where the mechanism can tell it apart; the rest of what it did is allowed. Better not to run it.")
	}
	b.allowEgress()
	b.closeNetwork()
	return b
}

// closeNetwork removes network access altogether if the server used it only for what findings are about.
func (b *basis) closeNetwork() {
	if len(b.needs.Egress) == 0 || len(b.egress) > 0 || b.dns || len(b.needs.Listens) > 0 || b.Report.Verdict != report.VerdictFail {
		return
	}
	for _, p := range b.needs.Egress {
		if b.foundPeer(p) == "" {
			return
		}
	}
	for _, c := range b.Report.Profile.Capabilities {
		if slices.ContainsFunc(slices.Concat(c.Connects, c.Listens), func(c report.Connection) bool { return c.Loopback() && c.Protocol != "unix" }) {
			return
		}
	}
	b.needs.Sockets = slices.DeleteFunc(slices.Clone(b.needs.Sockets), func(f string) bool { return strings.HasPrefix(f, "inet") })
	if len(b.needs.Sockets) > 0 {
		return
	}
	gone := []string{"socket", "connect"}
	b.needs.Calls = slices.DeleteFunc(slices.Clone(b.needs.Calls), func(name string) bool { return slices.Contains(gone, name) })
	b.needs.Unmade = slices.Concat(b.needs.Unmade, gone)
}

// origin identifies the audit behind a policy, in lines without a newline. All text of the server goes through plain.
func (b basis) origin() []string {
	r := b.Report
	covered := func(e report.Exercised) string { return fmt.Sprintf("%d of %d", e.Called, e.Listed) }
	lines := []string{
		fmt.Sprintf("Made by mcpaudit policy of an audit that ended %s.", r.EndTime.UTC().Format("2006-01-02T15:04:05Z")),
		fmt.Sprintf("verdict %s (%s), runner %s, tracer %s %s", plain(string(r.Verdict)), plain(string(r.Reason)), plain(r.Runner.Version), plain(r.Tracer.Name), plain(r.Tracer.Version)),
		fmt.Sprintf("manifest %s", plain(r.ManifestDigest)),
	}
	if b.Image != "" {
		lines = append(lines, fmt.Sprintf("image %s %s", plain(b.Image), plain(b.ImageDigest)))
	}
	return append(lines,
		fmt.Sprintf("exercised: tools %s, resources %s, resource templates %s, prompts %s", covered(r.Coverage.Tools),
			covered(r.Coverage.Resources), covered(r.Coverage.ResourceTemplates), covered(r.Coverage.Prompts)),
		"What the audit did not make the server do is not allowed here.")
}

// comment returns the origin and the notes as the head of a YAML file.
func (b basis) comment() string {
	var text strings.Builder
	for _, line := range slices.Concat(b.origin(), b.notes.lines) {
		text.WriteString("# " + line + "\n")
	}
	return text.String()
}

// annotations repeats the origin where comments get lost.
func (b basis) annotations() map[string]any {
	r := b.Report
	return map[string]any{
		"mcpaudit.dev/policy-manifest": plain(r.ManifestDigest),
		"mcpaudit.dev/policy-verdict":  plain(string(r.Verdict)),
		"mcpaudit.dev/policy-runner":   plain(r.Runner.Version),
	}
}

// plain makes a text fit for a comment: short, and nothing but printable ASCII.
func plain(text string) string {
	const most = 200
	mapped := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), most)])
	if mapped == "" {
		return "none"
	}
	return mapped
}

// destination is where connections may go: either host or prefix is set.
type destination struct {
	// host is a name, or a pattern that begins with "*.".
	host   string
	prefix netip.Prefix
	// port is 0 for all.
	port     int
	protocol string
}

var hostname = lazyregexp.New(`^(\*\.)?([a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?$`)

// allowEgress allows declared destinations, and observed ones except those that findings are about or that the
// audit itself named.
func (b *basis) allowEgress() {
	for _, p := range b.needs.Egress {
		switch found := b.foundPeer(p); {
		case p.Port == places.PortDNS:
			b.dns = true
		case found != "":
			b.note("left out: connections to %s, which finding %s is about", strconv.QuoteToASCII(p.Host+p.Address), plain(found))
		case p.Host != "" && inputs.Named(p.Host):
			b.note("left out: %s, a name that the audit made up: the server connects to what its caller names. Add the hosts that it is to reach.", plain(p.Host))
		default:
			d, ok := observed(p)
			if !ok {
				b.note("left out: a connection to %s, which is no end point", strconv.QuoteToASCII(p.Host+p.Address))
				continue
			}
			b.egress = append(b.egress, d)
		}
	}
	if declared := b.Report.DeclaredScope; declared != nil {
		for _, entry := range declared.Egress {
			b.declare(entry)
		}
	}
	for _, d := range b.egress {
		b.dns = b.dns || d.host != ""
	}
	slices.SortFunc(b.egress, func(a, b destination) int { return strings.Compare(a.key(), b.key()) })
	b.egress = slices.Compact(b.egress)
}

// observed returns the destination of an end point; false for an invalid one.
func observed(p report.Peer) (destination, bool) {
	d := destination{host: p.Host, port: p.Port, protocol: p.Protocol}
	if p.Port < 1 || p.Port > 65535 || p.Protocol != "tcp" && p.Protocol != "udp" {
		return d, false
	}
	if p.Host != "" {
		return d, hostname.MatchString(p.Host) && !strings.HasPrefix(p.Host, "*.")
	}
	address, err := netip.ParseAddr(p.Address)
	address = address.Unmap().WithZone("")
	d.prefix = netip.PrefixFrom(address, address.BitLen())
	return d, err == nil
}

func (d destination) key() string {
	return fmt.Sprintf("%s|%s|%05d|%s", d.host, d.prefix, d.port, d.protocol)
}

// declare allows an entry of report.DeclaredScope.Egress.
func (b *basis) declare(entry string) {
	entry = strings.ToLower(strings.TrimSpace(entry))
	d := destination{protocol: "tcp"}
	if at, err := netip.ParseAddrPort(entry); err == nil {
		d.prefix, d.port = netip.PrefixFrom(at.Addr(), at.Addr().BitLen()), int(at.Port())
	} else {
		place := entry
		if i := strings.LastIndexByte(entry, ':'); i > 0 {
			if port, err := strconv.ParseUint(entry[i+1:], 10, 16); err == nil && !strings.Contains(entry[:i], ":") {
				place, d.port = entry[:i], int(port)
			}
		}
		if prefix, err := netip.ParsePrefix(place); err == nil {
			d.prefix = prefix.Masked()
		} else if address, err := netip.ParseAddr(strings.Trim(place, "[]")); err == nil {
			d.prefix = netip.PrefixFrom(address, address.BitLen())
		} else if hostname.MatchString(place) {
			d.host = place
		} else {
			b.note("left out: the declared egress %s, which is neither a host nor a block of addresses", strconv.QuoteToASCII(entry))
			return
		}
	}
	b.egress = append(b.egress, d)
}

// found returns the rule of a finding that names one of the texts; empty for none. A false match only
// allows less.
func (b basis) found(texts ...string) string {
	for _, f := range b.Report.Findings {
		if f.Suppressed != nil && !f.Suppressed.Expired {
			continue
		}
		for _, text := range texts {
			in := func(e report.Evidence) bool { return strings.Contains(e.Detail, text) }
			if text != "" && (strings.Contains(f.Message, text) || slices.ContainsFunc(f.Evidence, in)) {
				return f.Rule
			}
		}
	}
	return ""
}

// foundPeer returns the rule of a finding about an end point. Findings name a host without its search domain, which is
// not known here, so any beginning of the name may match.
func (b basis) foundPeer(p report.Peer) string {
	texts := []string{p.Host, p.Address}
	host := strings.TrimSuffix(strings.ToLower(p.Host), ".")
	for i, r := range host + "." {
		if r == '.' && i > 0 {
			texts = append(texts, fmt.Sprintf(" %s:%d", host[:i], p.Port))
		}
	}
	return b.found(texts...)
}

// foundBelow returns the rule of a finding about a change in a directory or below.
func (b basis) foundBelow(dir string) string {
	for _, c := range b.Report.Profile.Capabilities {
		for _, w := range slices.Concat(c.Writes, c.Deletes) {
			if b.below(w.Path, dir) {
				if rule := b.found(w.Path); rule != "" {
					return rule
				}
			}
		}
	}
	return ""
}

// writable divides the directories that the server wrote to into volumes, which may be empty
// when it starts, and those in which the image may have files.
func (b basis) writable() (volumes, kept []string) {
	for _, w := range b.needs.Writes {
		switch dir := path.Clean(w.Path); {
		case !mountable(w.Path):
			kept = append(kept, w.Path)
		case b.foundBelow(dir) != "":
			b.note("left out: writing to %s, which finding %s is about", strconv.QuoteToASCII(dir), plain(b.foundBelow(dir)))
		case b.below(dir, b.needs.Home) && mountable(b.needs.Home) && !slices.ContainsFunc(system, func(s string) bool { return b.below(b.needs.Home, s) }) && !b.installedIn(b.needs.Home):
			volumes = append(volumes, b.needs.Home)
		case w.Created, slices.ContainsFunc(scratch, func(s string) bool { return b.below(dir, s) }):
			volumes = append(volumes, dir)
		default:
			kept = append(kept, dir)
		}
	}
	slices.Sort(volumes)
	return slices.Compact(volumes), kept
}

// system are the directories that an image consists of (hier(7)), and those that the
// kernel and the kubelet fill.
var system = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr",
	"/run/secrets", "/var/run/secrets"}

// filled are the directories of system that cannot contain a volume.
var filled = []string{"/dev", "/proc", "/sys", "/run/secrets", "/var/run/secrets"}

// mountable reports whether an empty volume may be mounted at a path, which comes from the image's HOME or from the
// server: it must not cover a directory of the system, nor contain ":" (ValidateVolumeMounts).
func mountable(dir string) bool {
	return path.IsAbs(dir) && path.Clean(dir) == dir && !strings.Contains(dir, ":") &&
		!slices.ContainsFunc(system, func(s string) bool { return places.Within(s, dir) }) &&
		!slices.ContainsFunc(filled, func(f string) bool { return places.Within(dir, f) })
}

// scratch are directories that may be empty at any start (hier(7)).
var scratch = []string{"/var/tmp", "/run", "/var/run", "/run/lock", "/var/lock"}

func (b basis) below(name, dir string) bool { return dir != "" && places.Within(name, dir) }

// installedIn reports whether the server, or what it runs, lies in a directory.
func (b basis) installedIn(dir string) bool {
	names := slices.Clone(b.Report.Server.Command)
	for _, c := range b.Report.Profile.Capabilities {
		for _, e := range c.Execs {
			names = append(names, e.Path)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return b.below(name, dir) })
}
