package attack

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Aim is the target of an attempt of family Egress.
type Aim string

// The aims.
const (
	// AimName: an ordinary host. AimPublic: a public address.
	AimName   Aim = "Name"
	AimPublic Aim = "Public"
	// AimLoopback: this machine. AimPrivate: a private network. AimLinkLocal: the link, where
	// clouds have their metadata services.
	AimLoopback  Aim = "Loopback"
	AimPrivate   Aim = "Private"
	AimLinkLocal Aim = "LinkLocal"
	// AimResolved: this machine, by a name or by a redirect.
	AimResolved Aim = "Resolved"
	// AimAllowed: the host of the honest value, or one that the capability names.
	AimAllowed Aim = "Allowed"
	// AimForeign: another host, in a text that contains the allowed one.
	AimForeign Aim = "Foreign"
	// AimBeside: a host whose name ends like the allowed one, and may be in the same domain; AimSibling: one that is.
	AimBeside  Aim = "Beside"
	AimSibling Aim = "Sibling"
	// AimPart: another host in place of one that the honest value is a part of.
	AimPart Aim = "Part"
	// AimLed: this machine, by a redirect from the allowed host.
	AimLed Aim = "Led"
	// AimFile: a file.
	AimFile Aim = "File"
)

// firstPort is that of the first attempt on one capability. Nothing listens on these ports.
const firstPort = 21000

// PublicAddress is one of those that the sinkhole gives to names.
var PublicAddress = netip.AddrFrom4([4]byte{28, 77, 7, 7})

// destination is the target of an attempt of family Egress.
type destination struct {
	// ip is a loopback address, port identifies the attempt; 0 where the value is only a host.
	ip   netip.Addr
	port int
	mark inputs.Mark
	// allowed is the host that AimAllowed leads to.
	allowed string
	number  int
}

// at returns a host with the port.
func (d destination) at(host string) string {
	if d.port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(d.port)
}

// value returns the address as a number.
func (d destination) value() uint32 {
	b := d.ip.As4()
	return binary.BigEndian.Uint32(b[:])
}

// each formats the four numbers of the address.
func (d destination) each(format string) string {
	b := d.ip.As4()
	return fmt.Sprintf(strings.Join([]string{format, format, format, format}, "."), b[0], b[1], b[2], b[3])
}

// egressForm is a way to write the target of a URL.
type egressForm struct {
	name    string
	aim     Aim
	control bool
	// authority writes the host, with the port. whole writes the whole value, for fields that take more
	// than a host.
	authority func(d destination) string
	whole     func(d destination) string
	// foreign: it needs an allowed host.
	foreign bool
}

func host(name string, aim Aim, write func(d destination) string) egressForm {
	return egressForm{name: name, aim: aim, authority: func(d destination) string { return d.at(write(d)) }}
}

func literal(aim Aim, text string) egressForm {
	return host("as "+text, aim, func(destination) string { return text })
}

func (e egressForm) plainly() egressForm { e.control = true; return e }

func whole(name string, aim Aim, write func(d destination) string) egressForm {
	return egressForm{name: name, aim: aim, whole: write}
}

// trick is a form for guards that search the text for an allowed host.
func trick(name string, write func(d destination) string) egressForm {
	return egressForm{name: name, aim: AimForeign, foreign: true, authority: write}
}

func (e egressForm) toward(aim Aim) egressForm { e.aim = aim; return e }

var fullWidth = strings.NewReplacer("0", "０", "1", "１", "2", "２", "7", "７", ".", "。")

// egressForms are the ways to write the target of a URL. The first are undisguised, and show which
// guards there are.
var egressForms = []egressForm{
	host("as the name of another host", AimName, func(d destination) string { return d.mark.Host() }).plainly(),
	trick("as the allowed host", func(d destination) string { return d.allowed }).toward(AimAllowed).plainly(),
	trick("as a host in the same domain", func(d destination) string { return d.mark.ID() + "." + parent(d.allowed) }).toward(AimSibling).plainly(),
	literal(AimPublic, PublicAddress.String()).plainly(),
	host("as an address", AimLoopback, func(d destination) string { return d.ip.String() }).plainly(),
	literal(AimPrivate, "10.0.0.1").plainly(),
	literal(AimLinkLocal, "169.254.169.254").plainly(),
	literal(AimLoopback, "localhost"),
	literal(AimLoopback, "[::1]"),
	host("as a decimal number", AimLoopback, func(d destination) string { return strconv.Itoa(int(d.value())) }),
	host("as an IPv4-mapped address of IPv6", AimLoopback, func(d destination) string { return "[::ffff:" + d.ip.String() + "]" }),
	literal(AimLoopback, "0.0.0.0"),
	host("by a name that has a loopback address", AimResolved, func(d destination) string { return d.mark.Inside() }),
	whole("by a redirect from a public host", AimResolved, func(d destination) string {
		return "http://" + d.mark.Host() + inputs.LeadPath(netip.AddrPortFrom(d.ip, uint16(d.port)))
	}),
	{name: "by a name that redirects", aim: AimResolved, authority: func(d destination) string {
		return d.mark.Lead(netip.AddrPortFrom(d.ip, uint16(d.port)))
	}},
	host("by a name whose address changes behind the first look-up", AimResolved, func(d destination) string { return d.mark.Rebound(1) }),
	host("as a short address", AimLoopback, func(d destination) string { return fmt.Sprintf("127.%d", d.value()&0xffffff) }),
	host("as a hexadecimal number", AimLoopback, func(d destination) string { return fmt.Sprintf("0x%08x", d.value()) }),
	host("as octal numbers", AimLoopback, func(d destination) string { return d.each("0%o") }),
	host("as hexadecimal numbers", AimLoopback, func(d destination) string { return d.each("0x%x") }),
	host("as an octal number", AimLoopback, func(d destination) string { return fmt.Sprintf("0%o", d.value()) }),
	host("as another loopback address", AimLoopback, func(d destination) string { return fmt.Sprintf("127.88.%d.%d", d.number>>8, d.number&0xff) }),
	literal(AimLoopback, "[::]"),
	literal(AimLoopback, "0"),
	host("with a dot behind it", AimLoopback, func(d destination) string { return d.ip.String() + "." }),
	literal(AimLoopback, "localhost."),
	literal(AimLoopback, "LOCALHOST"),
	host("as a name below localhost", AimLoopback, func(d destination) string { return d.mark.ID() + ".localhost" }),
	host("in full-width digits", AimLoopback, func(d destination) string { return fullWidth.Replace(d.ip.String()) }),
	host("with a percent-encoded digit", AimLoopback, func(d destination) string { return "%31" + d.ip.String()[1:] }),
	host("as an IPv4-mapped address in hexadecimal", AimLoopback, func(d destination) string {
		return fmt.Sprintf("[0:0:0:0:0:ffff:%x:%x]", d.value()>>16, d.value()&0xffff)
	}),
	literal(AimPrivate, "192.168.0.1"),
	literal(AimPrivate, "172.16.0.1"),
	literal(AimPrivate, "[fd00::1]"),
	literal(AimPrivate, "[::ffff:10.0.0.1]"),
	literal(AimLinkLocal, "2852039166"),
	literal(AimLinkLocal, "[::ffff:169.254.169.254]"),
	literal(AimLinkLocal, "[fe80::1]"),
	host("behind user information", AimLoopback, func(d destination) string { return d.mark.Host() + "@" + d.ip.String() }),
	{name: "before a fragment", aim: AimLoopback, authority: func(d destination) string { return d.at(d.ip.String()) + "#@" + d.mark.Host() + "/" }},
	{name: "before a backslash", aim: AimLoopback, authority: func(d destination) string { return d.at(d.ip.String()) + `\@` + d.mark.Host() + "/" }},
	whole("behind a blank", AimLoopback, func(d destination) string { return " http://" + d.at(d.ip.String()) + "/" }),
	whole("behind one slash", AimLoopback, func(d destination) string { return "http:/" + d.at(d.ip.String()) + "/" }),
	whole("behind a scheme in capitals", AimLoopback, func(d destination) string { return "HTTP://" + d.at(d.ip.String()) + "/" }),
	whole("by FTP", AimLoopback, func(d destination) string { return "ftp://" + d.at(d.ip.String()) + "/x" }),
	whole("by gopher", AimLoopback, func(d destination) string { return "gopher://" + d.at(d.ip.String()) + "/_x" }),
	whole("as the URL of a file", AimFile, func(d destination) string { return "file://" + inputs.OutsideFile(d.number, ".txt") }),
	host("by a name that has only an address of IPv6", AimResolved, func(d destination) string { return d.mark.Inside6() }),
	host("by a name whose address changes behind the second look-up", AimResolved, func(d destination) string { return d.mark.Rebound(2) }),
	host("by a name whose address changes behind the third look-up", AimResolved, func(d destination) string { return d.mark.Rebound(3) }),
	{name: "by a redirect from the allowed host", aim: AimLed, authority: func(d destination) string {
		return d.allowed + inputs.LeadPath(netip.AddrPortFrom(d.ip, uint16(d.port))) + "?"
	}},
	trick("with the allowed host at the beginning", func(d destination) string { return d.allowed + "." + d.mark.Host() }),
	trick("with the allowed host at the end", func(d destination) string { return d.mark.ID() + "-" + d.allowed }).toward(AimBeside),
	trick("with the domain of the allowed host at the end", func(d destination) string { return d.mark.ID() + "-" + domain(d.allowed) }),
	trick("with the allowed host as user information", func(d destination) string { return d.allowed + "@" + d.mark.Host() }),
	trick("with the allowed host in the query", func(d destination) string { return d.mark.Host() + "/?" + d.allowed }),
	trick("with the allowed host in the fragment", func(d destination) string { return d.mark.Host() + "/#" + d.allowed }),
	trick("with the allowed host in the path", func(d destination) string { return d.mark.Host() + "/https://" + d.allowed + "/" }),
	trick("with the allowed host behind a backslash", func(d destination) string { return d.mark.Host() + `\@` + d.allowed }),
	trick("with the allowed host behind a fragment", func(d destination) string { return d.mark.Host() + "#@" + d.allowed }),
}

// parent returns a host without its first label.
func parent(host string) string {
	_, above, _ := strings.Cut(host, ".")
	return above
}

// domain returns the last two labels of a host: a guard that checks this suffix allows other hosts, too.
func domain(host string) string {
	for strings.Count(host, ".") > 1 {
		host = parent(host)
	}
	return host
}

const maxEgressFields = 2 // of one target

var (
	// webURL matches scheme, authority and rest of a web URL.
	webURL = lazyregexp.New(`(?is)^(https?://)([^/?#\\]+)(.*)$`)
	// forHost matches names of fields for hosts, bareHost a host.
	forHost  = lazyregexp.New(`(?i)(?:^|[._-])(?:host|host_?name|domain|server|ip|ip_?address|address|target)(?:\[0\])?$`)
	bareHost = lazyregexp.New(`^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$`)
)

// named matches hosts in a text.
var named = lazyregexp.New(`(?i)\b(?:[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\.){1,5}(?:com|org|net|io|dev|gov|edu|ai|app|co|me|info|uk|de|eu|us|example|test)\b`)

// egressSteps returns the attempts of family Egress, in fields that take a URL or a host.
func egressSteps(fields []field, seen Seen, said string) (all []step) {
	var places []field
	for _, f := range fields {
		isURL := webURL.MatchString(f.core()) || f.core() == "" && forURL.MatchString(f.name)
		if f.text && (isURL || seen.Network && forHost.MatchString(f.name) && bareHost.MatchString(f.core())) && len(places) < maxEgressFields {
			places = append(places, f)
		}
	}
	for _, each := range egressForms {
		for _, f := range places {
			if next, ok := each.at(f, named.FindString(said)); ok {
				all = append(all, next)
			}
		}
	}
	return append(partSteps(fields, seen), all...)
}

// at returns the step of a form in a field; false where it does not apply. allowed is a host that
// the capability names.
func (e egressForm) at(f field, allowed string) (step, bool) {
	scheme, rest, alone := "http://", "/", false
	honest := ""
	if found := webURL.FindStringSubmatch(f.core()); found != nil {
		scheme, honest, rest = found[1], found[2], found[3]
	} else if f.core() != "" {
		scheme, honest, rest, alone = "", f.core(), "", true
	}
	if honest != "" && !inputs.Named(honest) {
		allowed = honest
	}
	if aside := e.foreign || e.aim == AimLed; alone && (e.whole != nil || aside) || aside && allowed == "" {
		return step{}, false
	}
	write := func(f field, m inputs.Mark, number int) string {
		d := destination{ip: netip.AddrFrom4([4]byte{127, 0, 0, 1}), port: firstPort + number, mark: m, allowed: allowed, number: number}
		switch {
		case alone:
			d.ip, d.port = loopback(number), 0
		case e.whole != nil:
			return f.before + e.whole(d) + f.behind
		case e.foreign || e.aim == AimName:
			d.port = 0
		}
		return f.before + scheme + e.authority(d) + rest + f.behind
	}
	return step{family: Egress, field: f, form: form{name: e.name, control: e.control, aim: e.aim, alone: alone, allowed: allowed, write: write}}, true
}

// loopback returns the address of a numbered attempt without a port.
func loopback(number int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 77, byte(number >> 8), byte(number)})
}

// Led reports whether an address and a port are the target of an attempt of family Egress, as far as its number
// identifies them.
func (a Attempt) Led(address netip.Addr, port int) bool {
	if !a.Alone {
		return port == a.Port
	}
	literal, err := netip.ParseAddr(strings.Trim(a.Value, "[]"))
	return address.Unmap() == loopback(a.Port-firstPort) || err == nil && literal == address
}
