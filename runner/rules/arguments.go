package rules

import (
	"encoding/json"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// explained has what the arguments of one capability explain.
type explained struct {
	// hosts are names and addresses, paths absolute and clean; above are the
	// directories that paths lie in.
	hosts, paths, above map[string]Argument
	// longest is the length of the longest path.
	longest int
	// commands are whole texts, programs the names that begin a command in one.
	commands, programs map[string]Argument
}

// scratch is the root that the audit offers to servers; all paths that it makes up lie in
// it (inputs.Options.Dir).
const scratch = "/tmp"

// maxNames bounds the names in one capability's arguments.
const maxNames = 8192

// explanations reads all arguments.
func explanations(in Input) map[report.Capability]*explained {
	all := map[report.Capability]*explained{}
	said := parameters(in.Manifest)
	for of, arguments := range in.Arguments {
		x := &explained{hosts: map[string]Argument{}, paths: map[string]Argument{}, above: map[string]Argument{},
			commands: map[string]Argument{}, programs: map[string]Argument{}}
		for _, a := range arguments {
			if len(x.hosts)+len(x.paths)+len(x.programs) < maxNames {
				x.read(a, said.of(of, a.Field), in.Home)
			}
		}
		all[of] = x
	}
	return all
}

// read takes in one argument; said is its description.
func (x *explained) read(a Argument, said, home string) {
	if !fetchesNothing.MatchString(said) {
		x.readHosts(a)
	}
	if !opensNothing.MatchString(said) {
		x.readPaths(a, home)
	}
	if !runsNothing.MatchString(said) && len(a.Value) < maxCommand {
		x.readCommand(a)
	}
}

func (x *explained) readHosts(a Argument) {
	for _, host := range hosts(a.Value) {
		if address, err := netip.ParseAddr(host); a.Given || inputs.Named(host) || err == nil && documentation(address) {
			enter(x.hosts, host, a)
		}
	}
}

func (x *explained) readPaths(a Argument, home string) {
	for _, name := range pathsIn(a.Value, home) {
		if !a.Given && !places.Within(name, scratch) && !handed(name) {
			continue
		}
		enter(x.paths, name, a)
		x.longest = max(x.longest, len(name))
		for dir := path.Dir(name); dir != "/" && (a.Given || places.Within(dir, scratch)); dir = path.Dir(dir) {
			enter(x.above, dir, a)
		}
	}
}

func (x *explained) readCommand(a Argument) {
	enter(x.commands, spaced(a.Value), a)
	if !takesCommand(a.Field) {
		return
	}
	for _, name := range programsIn(a.Value) {
		enter(x.programs, name, a)
	}
}

// maxCommand is the longest text that is read as a command, in bytes.
const maxCommand = 1024

func enter(known map[string]Argument, name string, a Argument) {
	if _, has := known[name]; !has {
		known[name] = a
	}
}

// documentation reports whether no host has an address: the audit makes them up (RFC
// 5737, RFC 3849), also from small numbers (RFC 1122, 3.2.1.3).
func documentation(address netip.Addr) bool {
	return slices.ContainsFunc(reservedAddresses, func(reserved netip.Prefix) bool { return reserved.Contains(address) })
}

var reservedAddresses = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::/32"),
}

// pieces matches texts between blanks, quotes and brackets.
var pieces = lazyregexp.New("[^\\s'\"`<>(){},;|&=]+")

// hosts returns the host names and addresses in a text: alone, with a port, in a URL or in
// an e-mail address.
func hosts(text string) (found []string) {
	for _, piece := range pieces.FindAllString(text, maxPieces) {
		piece = strings.ToLower(piece)
		if _, rest, isURL := strings.Cut(piece, "://"); isURL {
			piece = rest
		}
		piece, _, _ = strings.Cut(piece, "/")
		piece, _, _ = strings.Cut(piece, "?")
		piece = piece[strings.LastIndexByte(piece, '@')+1:]
		if address, err := netip.ParseAddr(strings.Trim(piece, "[]")); err == nil {
			found = append(found, address.WithZone("").Unmap().String())
			continue
		}
		if at, err := netip.ParseAddrPort(piece); err == nil {
			found = append(found, at.Addr().WithZone("").Unmap().String())
			continue
		}
		name, _, _ := strings.Cut(piece, ":")
		if address, ok := legacyAddress(name); ok {
			found = append(found, address.String())
			continue
		}
		if name = strings.TrimSuffix(name, "."); hostname.MatchString(name) {
			found = append(found, name)
		}
	}
	return found
}

// maxPieces bounds the pieces read of one argument.
const maxPieces = 256

var hostname = lazyregexp.New(`^(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+[a-z][a-z0-9-]{0,62}$`)

// pathsIn returns the paths in a text: absolute, below the home ("~"), in a file: URL, or
// relative to the directory that the audit offers. Paths that leave it ("../x") explain
// nothing.
func pathsIn(text, home string) (found []string) {
	add := func(name string) {
		if rest, isURL := strings.CutPrefix(name, "file://"); isURL {
			name = rest
		}
		if rest, ofHome := strings.CutPrefix(name, "~"); ofHome && home != "" && (rest == "" || rest[0] == '/') {
			name = home + rest
		}
		switch {
		case name == "" || strings.Contains(name, "://"):
		case name[0] != '/':
			if joined := path.Join(scratch, name); joined != scratch && places.Within(joined, scratch) {
				found = append(found, joined)
			}
		case path.Clean(name) != "/":
			found = append(found, path.Clean(name))
		}
	}
	if !strings.ContainsAny(text, "\n\x00") {
		add(strings.TrimSpace(text)) // with blanks in it
	}
	for _, piece := range pieces.FindAllString(text, maxPieces) {
		if piece != text {
			add(strings.TrimRight(piece, ".:!?"))
		}
	}
	return found
}

// takesCommand reports whether an argument is there to be run, by its name.
func takesCommand(field string) bool { return commandField.MatchString(field) }

var commandField = lazyregexp.New(`(?i)(?:command|cmd|code|script|shell|program|argv|args|exec)[a-z]{0,12}(?:\[\d+\])*$`)

// wrappers are programs that run the one behind them.
var wrappers = map[string]bool{"sudo": true, "exec": true, "env": true, "nohup": true, "time": true, "xargs": true}

// programsIn returns the names of the programs in a command line: of each command in it,
// and what wrappers run.
func programsIn(text string) (found []string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|(\n`", r) })
	for _, part := range parts[:min(len(parts), maxPieces)] {
		for _, word := range strings.Fields(part) {
			name := path.Base(strings.Trim(word, `"')`))
			if name == "." || name == "/" || name == ".." {
				break
			}
			found = append(found, name)
			if !wrappers[name] {
				break
			}
		}
	}
	return found
}

// Declarations of parameters whose values have no effect. They are narrow: a false match
// makes a finding of what was asked for.
var (
	fetchesNothing = lazyregexp.New(`(?i)\bno (?:urls (?:is|are)|network access|network requests?|remote (?:urls|files|access))\b|` +
		`\b(?:is|are|will be) (?:not|never) (?:fetched|downloaded|contacted|connected to|resolved|requested|loaded)\b|` +
		`\b(?:does not|doesn't|will not|never) (?:fetch|download|contact|connect to|resolve)(?:es|s)? (?:it|the|any|them|urls)\b|` +
		`\b(?:urls?|links?) (?:is|are) (?:only|just) (?:stored|kept|shown)\b`)
	opensNothing = lazyregexp.New(`(?i)\b(?:is|are|will be) (?:not|never) (?:read|opened|written|touched|accessed|created)\b`)
	runsNothing  = lazyregexp.New(`(?i)\b(?:is|are|will be) (?:not|never) (?:run|executed|evaluated|interpreted)\b`)
)

// declared are the schemas or declarations of arguments, by capability and name.
type declared map[report.Capability]map[string]json.RawMessage

// parameters reads what a manifest says about arguments.
func parameters(m manifest.Manifest) declared {
	all := declared{}
	for _, tool := range manifest.Items(report.CapabilityTool, m.Tools) {
		all[report.Capability{Kind: report.CapabilityTool, Name: tool.Name}] =
			manifest.Object(manifest.Object(tool.Members["inputSchema"])["properties"])
	}
	for _, prompt := range manifest.Items(report.CapabilityPrompt, m.Prompts) {
		var arguments []json.RawMessage
		if json.Unmarshal(prompt.Members["arguments"], &arguments) != nil {
			continue
		}
		named := map[string]json.RawMessage{}
		for _, argument := range arguments {
			named[manifest.Text(manifest.Object(argument)["name"])] = argument
		}
		all[report.Capability{Kind: report.CapabilityPrompt, Name: prompt.Name}] = named
	}
	return all
}

// of returns the description of an argument: of the innermost schema on the way to it that
// has one.
func (d declared) of(capability report.Capability, field string) (said string) {
	properties := d[capability]
	for step := range strings.SplitSeq(field, ".") {
		name, index, isItem := strings.Cut(step, "[")
		if len(properties[name]) > maxSchema {
			break
		}
		schema := manifest.Object(properties[name])
		for isItem && schema != nil {
			said = describing(schema, said)
			schema = manifest.Object(schema["items"])
			_, index, isItem = strings.Cut(index, "[")
		}
		if schema == nil {
			break
		}
		said = describing(schema, said)
		properties = manifest.Object(schema["properties"])
	}
	return said
}

func describing(schema map[string]json.RawMessage, otherwise string) string {
	if text := manifest.Text(schema["description"]); text != "" {
		return text[:min(len(text), maxDescription)]
	}
	return otherwise
}

// maxDescription bounds how much of a description is read, maxSchema the schema of an
// argument, in bytes.
const (
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
)
