package rules

import (
	"encoding/json"
	"slices"
	"strings"

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
	for kind, list := range map[report.CapabilityKind][]json.RawMessage{
		report.CapabilityTool: m.Tools, report.CapabilityResource: m.Resources,
		report.CapabilityResourceTemplate: m.ResourceTemplates, report.CapabilityPrompt: m.Prompts,
	} {
		for _, raw := range list {
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

// asHost matches a setting that is a host, with or without a port.
var asHost = lazyregexp.New(`^([a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+)(?::\d+)?$`)

// hostSettings are words in the names of variables that hold a host.
var hostSettings = []string{"HOST", "SERVER", "URL", "URI", "ENDPOINT", "DOMAIN", "ADDR"}

// chosenHosts are the hosts that the operator has named: in URLs on the command line and in
// variables, and by themselves in variables that are for hosts. Who starts a server with a host
// wants it to go there.
func chosenHosts(command, env []string) map[string]bool {
	all := map[string]bool{}
	for _, setting := range slices.Concat(command, env) {
		for _, host := range addressed.FindAllStringSubmatch(setting, maxNamed) {
			all[strings.ToLower(host[1])] = true
		}
	}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		host := asHost.FindStringSubmatch(value)
		if host != nil && slices.ContainsFunc(hostSettings, func(word string) bool { return strings.Contains(strings.ToUpper(name), word) }) {
			all[strings.ToLower(host[1])] = true
		}
	}
	return all
}
