package rules

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Reading returns the Input with its arguments read once, for many calls of Explains.
func (in Input) Reading() Input {
	in.explained = explanations(in)
	in.Profile.Effects = in.returned()
	return in
}

// returned gives each contact with a host that the audit made up to the only capability that had
// the host as an argument, where nobody else certainly made it: calls that overlap or go on hide whose
// it is, a mark does not. The capability has to declare use of the network, or any other could act in its name.
func (in Input) returned() []profile.Effect {
	owners := map[string]report.Capability{}
	for of, x := range in.explained {
		stance, _ := in.Scope.Network(of)
		for host := range x.hosts {
			if _, marked := inputs.Marked(host); !marked {
				continue
			}
			if _, several := owners[host]; several || stance != scope.Declared {
				of = report.Capability{}
			}
			owners[host] = of
		}
	}
	effects := slices.Clone(in.Profile.Effects)
	for i := range effects {
		e := &effects[i]
		owner := owners[e.Host]
		certain := e.Capability.Kind != report.CapabilityServer && e.AlternativeCause.Kind == ""
		if owner.Kind == "" || owner == e.Capability || certain || e.Kind != profile.KindConnect && e.Kind != profile.KindSend {
			continue
		}
		if _, led := in.explained[owner].contact(*e); led {
			e.Capability, e.AlternativeCause, e.Phase = owner, report.Capability{}, report.PhaseCall
		}
	}
	return effects
}

// Explains finds the argument that explains an effect: the host that was
// contacted, the path that was touched or the command that was run is in the arguments of a
// call of the same capability. Whether the capability may do such a thing at all, rules
// ask the Scope.
//
// An argument explains only what its own capability did, during a call or as the
// possible cause of a later effect (Effect.AlternativeCause): not the same at idle, nor by
// another capability, nor what its own declaration denies ("a local file; URLs are
// not fetched").
//
// Only values of the audit or of its operator explain: a host below
// inputs.Host or an address reserved for documentation, a path below the directory
// that the audit offers, a command. The audit also hands back values that a server has
// named, in a schema, a result or an error. Such a host explains nothing, or a
// server could excuse its own by naming it.
//
// The Input has read its arguments ([Input.Reading]).
func (in Input) Explains(e profile.Effect) (Argument, bool) {
	for _, of := range []report.Capability{e.Capability, e.AlternativeCause} {
		x := in.explained[of]
		if x == nil || of.Kind == report.CapabilityServer {
			continue
		}
		if a, ok := x.explains(e); ok {
			return a, true
		}
	}
	return Argument{}, false
}

func (x *explained) explains(e profile.Effect) (Argument, bool) {
	switch e.Kind {
	case profile.KindConnect, profile.KindSend:
		return x.contact(e)
	case profile.KindExec:
		return x.command(e)
	case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete, profile.KindAttempt, profile.KindLook:
		return x.file(e.Kind, e.Path)
	}
	return Argument{}, false
}

// contact explains a look-up of a host and a connection to the address that the
// sinkhole gave for it. Any other address is not that of the name.
func (x *explained) contact(e profile.Effect) (Argument, bool) {
	address, err := netip.ParseAddr(e.Address)
	if e.Host == "" {
		a, ok := x.hosts[address.WithZone("").Unmap().String()]
		return a, ok && err == nil
	}
	if !lookup(e) && (err != nil || !sinkhole.Gave(e.Host, address)) {
		return Argument{}, false
	}
	name := e.Host
	for range maxLabels {
		if a, ok := x.hosts[name]; ok {
			return a, true
		}
		_, above, ok := strings.Cut(name, ".")
		if !ok || !inputs.Named(above) { // a host that was given, and no other below it
			break
		}
		name = above
	}
	return Argument{}, false
}

// maxLabels bounds the labels of a host name (RFC 1035, 2.3.4).
const maxLabels = 128

// file explains a path that was given, one below it, and the directories above it; and temporary files
// beside it that editors rename to it, such as "note.txt.8f3a.tmp", "note.txt~" and ".note.txt.swp".
func (x *explained) file(kind profile.Kind, name string) (Argument, bool) {
	if a, ok := x.above[name]; ok && kind != profile.KindDelete {
		return a, true
	}
	for i := range min(len(name), x.longest) { // every path that the name begins with
		if a, ok := x.paths[name[:i+1]]; ok && goesOn(name[i+1:]) {
			return a, true
		}
	}
	dir, base := path.Split(name)
	if hidden, ok := strings.CutPrefix(base, "."); ok {
		for i := range min(len(hidden), maxBase) {
			if a, ok := x.paths[dir+hidden[:i+1]]; ok && goesOn(hidden[i+1:]) {
				return a, true
			}
		}
	}
	return Argument{}, false
}

// goesOn reports whether the rest after a path leads below it, or makes it a variant of the same name.
func goesOn(rest string) bool {
	return rest == "" || rest[0] == '/' || strings.ContainsRune(".~-_#", rune(rest[0])) && !strings.Contains(rest, "/")
}

// maxBase bounds the length of a file's name without its directory (NAME_MAX).
const maxBase = 255

// command explains a program whose command line was given as a command, directly or for a shell, or that
// is the first word of a command in one.
func (x *explained) command(e profile.Effect) (Argument, bool) {
	for _, text := range []string{strings.Join(e.Argv.Words(), " "), ShellCommand(e.Argv.Words()), e.Path} {
		if a, ok := x.commands[spaced(text)]; ok && text != "" {
			return a, true
		}
	}
	a, ok := x.programs[path.Base(e.Path)]
	return a, ok
}

// ShellCommand returns the text that a shell was started with: sh -c TEXT.
func ShellCommand(argv []string) string {
	if len(argv) < 3 || !shells[path.Base(argv[0])] {
		return ""
	}
	for i, option := range argv[1 : len(argv)-1] {
		if strings.HasPrefix(option, "-") && strings.HasSuffix(option, "c") {
			return argv[i+2]
		}
	}
	return ""
}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "zsh": true, "ksh": true, "fish": true}

// spaced returns a text with single blanks.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }
