package rules

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// addressed finds the host of each URL in a text, JSON or not.
var addressed = lazyregexp.New(`(?i)[a-z][a-z0-9+.-]*:(?:\\?/){2}(?:[^/@\s"\\]*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)

// namedHosts are the hosts of the URLs that each capability's own declaration has, in
// its texts or its schema: the default of an argument is a host that it says it goes to.
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

// maxNamed is how many URLs of one declaration are looked at.
const maxNamed = 256

// hostSet has the names of hosts, and addresses.
type hostSet map[string]bool

// has reports whether a host is one of them, or lies below one: whoever has "corp.example" has "db.corp.example".
// Below a name that anybody may register names under (publicsuffix.org), it can be somebody else's.
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
	// withPort matches what can be nothing but a host.
	withPort = lazyregexp.New(`^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+:\d+$`)
)

// chosenHosts are the hosts that the operator has named: in URLs on the command line and in
// variables, and by themselves in those that are for hosts. Who starts a server with a host
// wants it to go there.
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

// configuration has the settings of a command and an environment: the option or variable, which is ""
// of a word that stands for itself, and the value.
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

// inventedHosts are those that the audit gave in variables that the server asked for. They are
// names that nobody has: what a server named itself is none of them.
func inventedHosts(asked []string) hostSet {
	all := chosenHosts(nil, asked)
	maps.DeleteFunc(all, func(host string, _ bool) bool { return !under(host, madeUp) })
	return all
}
