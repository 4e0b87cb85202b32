package rules

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// addressed matches each URL in a text, JSON or not, with its host.
var addressed = lazyregexp.New(`(?i)[a-z][a-z0-9+.-]*:(?:\\?/){2}(?:[^/@\s"\\]*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)

// namedHosts returns the hosts of the URLs in each capability's own declaration: its texts and its
// schema, where the default of an argument names a host as well.
func namedHosts(m manifest.Manifest) map[report.Capability]map[string]bool {
	all := map[report.Capability]map[string]bool{}
	for _, kind := range manifest.Kinds {
		for _, raw := range *m.List(kind) {
			found := addressed.FindAllSubmatch(raw, maxNamed)
			if len(found) == 0 {
				continue
			}
			of := report.Capability{Kind: kind, Name: manifest.Items(kind, []json.RawMessage{raw})[0].Name}
			if all[of] == nil {
				all[of] = map[string]bool{}
			}
			for _, host := range found {
				all[of][strings.ToLower(string(host[1]))] = true
			}
		}
	}
	return all
}

const maxNamed = 256 // URLs of one declaration

// hostSet is a set of host names and addresses.
type hostSet map[string]bool

// has reports whether a host is in the set, or below one that is: "corp.example" covers "db.corp.example". A public
// suffix (publicsuffix.org) covers nothing below it, because names there belong to different owners.
func (h hostSet) has(host string) bool {
	if h[host] {
		return true
	}
	for _, above, more := strings.Cut(host, "."); more && len(h) > 0; _, above, more = strings.Cut(above, ".") {
		if suffix, _ := publicsuffix.PublicSuffix(above); h[above] && suffix != above {
			return true
		}
	}
	return false
}

var (
	// forHosts matches the names of variables and options that hold a host.
	forHosts = lazyregexp.New(`(?i)HOST|SERVER|UR[LI]|ENDPOINT|DOMAIN|ADDR|DSN|CONNECTION|BROKER|CLUSTER|NODES|SITE|INSTANCE|REGISTRY`)
	// withPort matches a host with a port.
	withPort = lazyregexp.New(`^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+:\d+$`)
)

// chosenHosts returns the hosts that the operator has named: in URLs on the command line and in
// variables, and without a scheme in options and variables for hosts.
func chosenHosts(command, env []string) hostSet {
	all := hostSet{}
	for name, value := range configuration(command, env) {
		for _, host := range addressed.FindAllStringSubmatch(value, maxNamed) {
			all[strings.ToLower(host[1])] = true
		}
		if forHosts.MatchString(name) || withPort.MatchString(value) {
			for _, host := range hosts(value) {
				all[host] = true
			}
		}
	}
	return all
}

// configuration iterates over the settings of a command and an environment: the option or variable, ""
// for a positional argument, and the value.
func configuration(command, env []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		option := ""
		for _, word := range slices.Concat(command, env) {
			name, value, isSetting := strings.Cut(word, "=")
			if !isSetting || strings.Contains(name, "://") {
				name, value = option, word
			}
			if option = ""; strings.HasPrefix(word, "-") && !isSetting {
				option = word
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// settingHosts returns the hosts of the audit that it gave to tools which change the server's settings, such as the
// address of its service: other tools connect there from then on.
func (in Input) settingHosts() hostSet {
	all := hostSet{}
	for of, x := range in.explained {
		if !speaks(in.Scope.Own(of), lexicon().SettingTopics) {
			continue
		}
		for host := range x.hosts {
			if inputs.Named(host) {
				all[host] = true
			}
		}
	}
	return all
}

// inventedHosts returns the hosts in the audit's values for variables that the server asked for. They are
// reserved names, so a server cannot have chosen them.
func inventedHosts(asked []string) hostSet {
	all := chosenHosts(nil, asked)
	maps.DeleteFunc(all, func(host string, _ bool) bool { return !under(host, madeUp) })
	return all
}
