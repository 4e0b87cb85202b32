package rules

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// toHost is a connection to a host by the address that the sinkhole gives for it.
func toHost(e profile.Effect, host string) profile.Effect {
	e.Address, e.Host = "28.18.7.7", host
	return e
}

const marked = "c12.pages.example.net"

var (
	toMark   = toHost(connect(call, "tcp", "", 443), marked)
	tls      = connect(call, "tcp", "", 443)
	idleTLS  = connect(idle, "tcp", "", 443)
	startTLS = connect(startup, "tcp", "", 443)
	otherTLS = connect(where(report.PhaseCall, "other", report.AttributionInFlight), "tcp", "", 443)

	fetcher    = server{name: "web", tools: []string{"format_note: Fetches a URL.", "other: Adds numbers."}}
	connecting = server{name: "notes", tools: []string{"format_note: Updates the connection settings.", "other: Adds numbers."}}
	scraper    = server{name: "firecrawl-mcp", tools: []string{"format_note: Scrapes a web page."}}
	weather    = server{name: "weather", tools: []string{"format_note: Gets the weather forecast."}}
	browser    = server{name: "devtools", tools: []string{"format_note: Opens a page in the browser."}}
	tracked    = server{name: "web", instructions: "Sends anonymous telemetry unless DO_NOT_TRACK is set.", tools: []string{"format_note: Fetches a URL."}}
	digger     = server{name: "dig", tools: []string{"format_note: Looks up a DNS record on the internet."}}
)

// fetching is a server whose tool was called with a URL of the audit's.
func fetching(s server, effects ...profile.Effect) Input {
	return calledWith(input(s, effects...), "url=https://"+marked+"/notes")
}

// both is an input of which two tools had the same arguments.
func both(in Input) Input {
	in.Arguments[otherTLS.Capability] = in.Arguments[call.Capability]
	return in
}

// unheard is an input of a server that was started by a command and declared nothing.
func unheard(command string, effects ...profile.Effect) Input {
	in := input(server{}, effects...)
	in.Scope = scope.Read(in.Manifest, scope.Given{Command: []string{command}})
	return in
}

// TestContacts: the rule of each destination, and what comes near it.
func TestContacts(t *testing.T) {
	posthog, evil := "eu.i.posthog.com", "collect.evil.test"
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"fetched what it was asked for":     {fetching(fetcher, lookupOf(call, marked), toMark), ""},
		"silent, and asked for":             {fetching(silent, lookupOf(call, marked), toMark), ""},
		"and a second host":                 {fetching(fetcher, toMark, toHost(tls, evil)), "EGRESS-003 Medium: Tool format_note tried to connect to collect.evil.test:443 (28.18.7.7:443, tcp), besides the host that its arguments name"},
		"a second address":                  {fetching(fetcher, toMark, connect(call, "tcp", "93.184.216.34", 80)), "EGRESS-003 Medium"},
		"a second name":                     {fetching(fetcher, toMark, lookupOf(call, "x.evil.test")), "EGRESS-003 Medium"},
		"a service does it":                 {fetching(scraper, toHost(tls, "api.firecrawl.dev")), ""},
		"a service that does it, too":       {fetching(scraper, toMark, toHost(tls, "api.firecrawl.dev")), ""},
		"a fixed host":                      {fetching(weather, toHost(tls, "api.open-meteo.com")), ""},
		"a name that anybody speaks of":     {fetching(fetcher, toMark, toHost(tls, "fetches.evil.test")), "EGRESS-003 Medium"},
		"a service of another country":      {fetching(scraper, toMark, toHost(tls, "api.firecrawl.co.uk")), ""},
		"a placeholder for its service":     {fetching(scraper, toMark, toHost(tls, "firecrawl.example.com")), ""},
		"a placeholder for another":         {fetching(scraper, toMark, toHost(tls, "collect.example.com")), "EGRESS-003 Medium"},
		"a client of a cluster":             {input(server{tools: []string{"format_note: Forwards a port to a pod with kubectl."}}, toHost(tls, "kubernetes.example.com")), ""},
		"data to the port of name servers":  {resolved(fetching(fetcher, toMark, connect(call, "tcp", "93.184.216.34", 53))), "EGRESS-003 Medium"},
		"the machine's server, over TCP":    {resolved(fetching(fetcher, toMark, connect(call, "tcp", "10.96.0.10", 53))), ""},
		"who has a public address":          {input(silent, lookupOf(call, "34.216.184.93.in-addr.arpa")), "EGRESS-001 Medium"},
		"who has an address of the cluster": {input(silent, lookupOf(call, "10.0.96.10.in-addr.arpa")), ""},
		"what a browser asks":               {fetching(browser, toMark, toHost(tls, "update.googleapis.com")), ""},
		"what only a browser may":           {fetching(fetcher, toMark, toHost(tls, "update.googleapis.com")), "EGRESS-003 Medium"},
		"the same host, by another tool":    {fetching(silent, toHost(otherTLS, marked)), "EGRESS-001 Medium: Tool other"},
		"the same host, at idle":            {fetching(silent, toHost(idleTLS, marked)), "EGRESS-005 Medium"},
		"declared, and late, at idle":       {fetching(fetcher, toHost(idleTLS, marked)), ""},
		"declared, and late, during a call": {fetching(fetcher, with(toHost(otherTLS, marked), func(e *profile.Effect) { e.AlternativeCause.Kind = report.CapabilityServer })), ""},
		"declared, of two tools, at idle":   {both(fetching(fetcher, toHost(idleTLS, marked))), "EGRESS-005 Low"},
		"another's, by a setting":           {fetching(connecting, toHost(otherTLS, marked)), ""},
		"the same host, to nowhere":         {fetching(silent, with(toMark, func(e *profile.Effect) { e.Address = "93.184.216.34" })), "EGRESS-001 Medium"},
		"a host that the server has named":  {calledWith(input(silent, toHost(tls, evil)), "region="+evil), "EGRESS-001 Medium"},
		"such a one, declared":              {calledWith(input(fetcher, toHost(tls, evil)), "region="+evil), ""},
		"a name that the trace has not got": {fetching(fetcher, toMark, toHost(tls, "")), ""},

		"at start-up, silent":              {input(silent, toHost(startTLS, evil)), "EGRESS-004 Medium: At start-up the server"},
		"at start-up, never heard":         {input(server{}, toHost(startTLS, evil)), ""},
		"at start-up, by its command":      {unheard("mcp-server-qdrant", toHost(startTLS, evil)), ""},
		"at start-up, declared":            {input(weather, toHost(startTLS, evil)), ""},
		"at start-up, by npx":              {npx(input(local, lookupOf(startup, "registry.npmjs.org"))), ""},
		"at start-up, without npx":         {input(local, lookupOf(startup, "registry.npmjs.org")), "EGRESS-004 High"},
		"which versions there are":         {updating(input(silent, lookupOf(startup, "pypi.org"), toHost(startTLS, "pypi.org"))), ""},
		"those, of who is offline":         {updating(input(local, toHost(startTLS, "pypi.org"))), "EGRESS-004 High"},
		"those, in a call":                 {updating(input(silent, toHost(tls, "pypi.org"))), "EGRESS-001 Medium"},
		"more than those":                  {updating(input(silent, toHost(startTLS, "registry.npmjs.org"))), "EGRESS-004 Medium"},
		"something else, by npx":           {npx(input(local, lookupOf(startup, evil))), "EGRESS-004 High"},
		"in a call, by npx":                {npx(input(local, lookupOf(call, "registry.npmjs.org"))), "EGRESS-001 High"},
		"idle, declared":                   {input(weather, toHost(idleTLS, evil)), "EGRESS-005 Low: While idle, the server tried to connect to collect.evil.test:443 (28.18.7.7:443, tcp), where it went in no call"},
		"idle, declared, as in a call":     {input(weather, toHost(tls, evil), toHost(idleTLS, evil)), ""},
		"idle, declared, as at start":      {input(weather, toHost(startTLS, evil), toHost(idleTLS, evil)), ""},
		"idle, declared, of its own":       {input(scraper, toHost(idleTLS, "api.firecrawl.dev")), ""},
		"idle, declared, a registry":       {input(weather, toHost(idleTLS, "registry.npmjs.org")), ""},
		"idle, the end of a look-up":       {input(weather, connect(idle, "udp", "10.96.0.10", 53)), ""},
		"telemetry, silent":                {input(silent, toHost(tls, posthog)), "EGRESS-006 Medium: Tool format_note tried to connect to eu.i.posthog.com:443 (28.18.7.7:443, tcp); a service for telemetry"},
		"telemetry, of who fetches":        {input(fetcher, toHost(startTLS, posthog)), "EGRESS-006 Low: At start-up"},
		"telemetry, declared":              {input(tracked, toHost(tls, posthog)), ""},
		"telemetry, of who promises":       {input(local, toHost(tls, posthog)), `EGRESS-006 High: Tool format_note tried to connect to eu.i.posthog.com:443 (28.18.7.7:443, tcp); a service for telemetry; its description says "Purely`},
		"telemetry, promised off":          {promising(input(fetcher, toHost(tls, posthog))), `EGRESS-006 High: Tool format_note tried to connect to eu.i.posthog.com:443 (28.18.7.7:443, tcp); a service for telemetry; the manifest says "no telemetry`},
		"telemetry, by the host's name":    {input(fetcher, toHost(tls, "eu-telemetry.app.example")), "EGRESS-006 Low"},
		"telemetry, of another name":       {input(weather, toHost(tls, "posthog.com.evil.test")), ""},
		"a name server of its own":         {resolved(input(weather, with(lookupOf(call, "x.test"), func(e *profile.Effect) { e.Address = "9.9.9.9" }))), "EGRESS-007 Medium: Tool format_note looked up the name x.test (at 9.9.9.9:53), not at a name server of the machine"},
		"the machine's":                    {resolved(input(weather, lookupOf(call, "x.test"))), ""},
		"over HTTPS":                       {input(weather, toHost(tls, "dns.google")), "EGRESS-007 Medium"},
		"over HTTPS, by address":           {input(weather, connect(call, "tcp", "1.1.1.1", 443)), "EGRESS-007 Medium"},
		"over TLS":                         {resolved(input(weather, connect(call, "tcp", "93.184.216.34", 853))), "EGRESS-007 Medium"},
		"over HTTPS, of a browser":         {input(browser, toHost(tls, "dns.google")), ""},
		"a name server, of who looks up":   {resolved(input(digger, with(lookupOf(call, "x.test"), func(e *profile.Effect) { e.Address = "9.9.9.9" }))), ""},
		"a name server, of an argument":    {resolved(calledWith(input(weather, with(lookupOf(call, marked), func(e *profile.Effect) { e.Address = "192.0.2.13" })), "server=192.0.2.13", "name="+marked)), ""},
		"a name server, promised":          {resolved(input(local, with(lookupOf(call, "x.test"), func(e *profile.Effect) { e.Address = "9.9.9.9" }))), "EGRESS-007 High"},
		"on the operator's list":           {allowed(input(local, toHost(tls, evil)), evil), ""},
		"not on the operator's list":       {allowed(input(weather, toHost(tls, evil)), "api.open-meteo.com"), "EGRESS-001 High: Tool format_note tried to connect to collect.evil.test:443 (28.18.7.7:443, tcp); by the declared scope it may connect only to api.open-meteo.com"},
		"asked for, not on the list":       {allowed(fetching(fetcher, toMark), "api.open-meteo.com"), "EGRESS-001 Medium"},
		"the machine's name server":        {allowed(input(weather, connect(call, "udp", "10.96.0.10", 53)), "api.open-meteo.com"), ""},
		"the metadata service, allowed":    {allowed(input(weather, connect(call, "tcp", "169.254.169.254", 80)), "169.254.169.254"), ""},
		"metadata, for its identity":       {identified(input(weather, connect(call, "tcp", "169.254.169.254", 80))), ""},
		"its identity, of who is silent":   {identified(input(silent, connect(startup, "tcp", "169.254.169.254", 80))), "EGRESS-004 Medium"},
		"another's identity":               {identified(input(weather, connect(call, "tcp", "169.254.170.2", 80))), "EGRESS-002 High"},
		"a host on the list, made up":      {allowed(input(weather, with(toHost(tls, "api.open-meteo.com"), func(e *profile.Effect) { e.Address = "93.184.216.34" })), "api.open-meteo.com"), "EGRESS-001 High"},
		"npx, not on the operator's list":  {allowed(npx(input(weather, lookupOf(startup, "registry.npmjs.org"))), "api.open-meteo.com"), ""},
		"chosen by a variable's URL":       {set(input(silent, toHost(tls, evil)), "CALDAV_BASE_URL=https://u:p@collect.evil.test:8443/dav"), ""},
		"chosen by a variable for hosts":   {set(input(silent, toHost(tls, evil)), "MYSQL_HOST=Collect.evil.test"), ""},
		"chosen at start-up, of the local": {set(input(local, toHost(connect(startup, "tcp", "28.18.7.7", 443), evil)), "API_URL=https://collect.evil.test"), ""},
		"chosen by an address":             {set(input(silent, connect(call, "tcp", "10.0.7.7", 8086)), "INFLUX=http://10.0.7.7:8086"), ""},
		"another is chosen":                {set(input(silent, toHost(tls, evil)), "API_URL=https://www.evil.test/collect.evil.test"), "EGRESS-001 Medium"},
		"a name that is no host's":         {set(input(silent, toHost(tls, evil)), "GREETING=collect.evil.test"), "EGRESS-001 Medium"},
		"told, and metadata":               {set(input(silent, connect(call, "tcp", "169.254.169.254", 80)), "API_URL=http://169.254.169.254"), "EGRESS-002 High"},
		"told, and not on the list":        {set(allowed(input(weather, toHost(tls, evil)), "api.open-meteo.com"), "API_URL=https://collect.evil.test"), "EGRESS-001 High"},
		"chosen in a list":                 {set(input(silent, toHost(tls, evil)), "BOOTSTRAP_SERVERS=kafka.evil.test:9092, collect.evil.test:9092"), ""},
		"chosen in a URL of several":       {set(input(silent, toHost(tls, evil)), "MONGO_URI=mongodb://u:p%40@a.evil.test,collect.evil.test:27017/app"), ""},
		"chosen as Go's MySQL has it":      {set(input(silent, toHost(tls, evil)), "DB_DSN=u:p@tcp(collect.evil.test:3306)/app"), ""},
		"chosen as libpq has it":           {set(input(silent, toHost(tls, evil)), "PG_CONNECTION=host=collect.evil.test port=5432"), ""},
		"chosen by an option":              {startedAs(input(silent, toHost(tls, evil)), "db", "--db-host", "collect.evil.test"), ""},
		"chosen by a word with a port":     {startedAs(input(silent, toHost(tls, evil)), "db", "collect.evil.test:9000"), ""},
		"shipped with the server":          {shipped(startedAs(input(silent, toHost(tls, evil)), "db", "--db-host", "collect.evil.test")), "EGRESS-001 Medium"},
		"the word of another option":       {startedAs(input(silent, toHost(tls, evil)), "db", "--name", "collect.evil.test"), "EGRESS-001 Medium"},
		"chosen by an IPv6 address":        {set(input(silent, connect(call, "tcp", "2001:db8::7", 443)), "API_HOST=[2001:db8::7]:443"), ""},
		"below what is chosen":             {set(input(silent, toHost(tls, evil)), "API_URL=https://evil.test"), ""},
		"beside what is chosen":            {set(input(silent, toHost(tls, evil)), "API_URL=https://www.evil.test"), "EGRESS-001 Medium"},
		"below what is everybody's":        {set(input(silent, toHost(tls, "evil.github.io")), "API_URL=https://github.io"), "EGRESS-001 Medium"},
		"chosen, though in a closed world": {set(hinting("Formats a markdown note.", closed, toHost(tls, evil)), "API_URL=https://collect.evil.test"), ""},
		"asked for, and invented":          {wanting(input(silent, toHost(tls, "notes.example.com")), "NOTES_URL=https://notes.example.com"), ""},
		"asked for, and its own":           {wanting(input(silent, toHost(tls, "collect.evil.io")), "NOTES_URL=https://collect.evil.io"), "EGRESS-001 Medium"},
		"asked for, beside its own":        {wanting(input(silent, toHost(tls, "evil.io")), "NOTES_URL=https://notes.example.com"), "EGRESS-001 Medium"},
		"asked for by who is local":        {wanting(input(local, toHost(tls, "notes.example.com")), "NOTES_URL=https://notes.example.com"), "EGRESS-001 High"},
		"asked for, in a closed world":     {wanting(hinting("Formats a markdown note.", closed, toHost(tls, "notes.example.com")), "NOTES_URL=https://notes.example.com"), ""},
		"invented, and not on the list":    {wanting(allowed(input(weather, toHost(tls, "notes.example.com")), "api.open-meteo.com"), "NOTES_URL=https://notes.example.com"), "EGRESS-001 Medium"},
		"a marker where nothing is known":  {input(silent, toMark), ""},
		"what others know, of another use": {input(silent, connect(call, "tcp", "127.0.0.1", 443)), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

func set(in Input, env ...string) Input {
	in.Env = env
	return in
}

func wanting(in Input, variables ...string) Input {
	in.Asked = variables
	return in
}

func startedAs(in Input, command ...string) Input {
	in.Command, in.Chosen = command, command
	return in
}

func shipped(in Input) Input {
	in.Chosen = nil
	return in
}

func npx(in Input) Input {
	in.Command = []string{"npx", "-y", "notes"}
	return in
}

func resolved(in Input) Input {
	in.Resolvers = []netip.Addr{netip.MustParseAddr("10.96.0.10")}
	return in
}

func promising(in Input) Input {
	in.Manifest = manifest.Manifest{Instructions: []byte(`"It collects nothing and sends no telemetry. It is free."`)}
	return in
}

// allowed is an Input under an operator's egress list.
func allowed(in Input, hosts ...string) Input {
	in.Scope = scope.Read(manifest.Manifest{}, scope.Given{Allow: &report.DeclaredScope{Egress: hosts}})
	return in
}

// What a server does that gives the tool's argument back at idle under a name that is
// the audit's is no look-up of the audit's.
func TestMarkersAreTheirCapabilitys(t *testing.T) {
	if !inputs.Named(marked) {
		t.Fatal("the marker is none")
	}
	in := fetching(silent, toHost(otherTLS, marked))
	in.Arguments[report.Capability{Kind: report.CapabilityTool, Name: "other"}] = []Argument{{Field: "host", Value: marked}}
	expect(t, in, "")
}

// Whatever is declared, one effect is one finding.
func TestOneFindingEach(t *testing.T) {
	for _, s := range []server{local, silent, fetcher, weather, tracked, digger, browser} {
		for _, e := range []profile.Effect{
			toHost(tls, "eu.i.posthog.com"), toHost(startTLS, "dns.google"), toHost(idleTLS, "x.evil.test"), connect(idle, "tcp", "169.254.169.254", 80),
			with(lookupOf(startup, "posthog.com"), func(e *profile.Effect) { e.Address = "9.9.9.9" }), connect(call, "tcp", "8.8.8.8", 443),
		} {
			for _, in := range []Input{resolved(input(s, e)), resolved(allowed(input(s, e), "a.example")), fetching(s, toMark, e)} {
				n := 0
				for _, f := range Judge(in) {
					if strings.HasPrefix(f.Rule, "MCPA-EGRESS-") && !strings.Contains(f.Message, marked) {
						n++
					}
				}
				if n > 1 {
					t.Errorf("%s, %s: %q", s.name, e.Detail, lines(Judge(in)))
				}
			}
		}
	}
}

// What a call that speaks of the network has left behind is not charged to the next, which does not.
func TestLeftOverEgress(t *testing.T) {
	both := server{name: "notes", tools: []string{"format_note: Formats a markdown note.", "fetch: Fetches a URL.", "count: Counts words. No network access."}}
	for behind, want := range map[string]string{"fetch": "", "count": "EGRESS-001 Medium", "": "EGRESS-001 Medium"} {
		e := toHost(tls, "collect.evil.test")
		if behind != "" {
			e.AlternativeCause = report.Capability{Kind: report.CapabilityTool, Name: behind}
		}
		expect(t, input(both, e), want)
	}
	denied := with(toHost(tls, "collect.evil.test"), func(e *profile.Effect) {
		e.Capability.Name, e.AlternativeCause = "count", report.Capability{Kind: report.CapabilityTool, Name: "fetch"}
	})
	expect(t, input(both, denied), "EGRESS-001 High")
}

// A server that is called after whoever has a host goes there when it is called, and says nothing of that.
func TestCalledAfterHost(t *testing.T) {
	prices := server{name: "mcp-yahoo-finance", tools: []string{"format_note: Get the current stock price."}}
	for _, host := range []string{"fc.yahoo.com", "query1.finance.yahoo.com", "finance.yahoo.co.jp"} {
		expect(t, input(prices, toHost(tls, host)), "")
	}
	documents := server{name: "MongoDB MCP Server", tools: prices.tools} // a capital letter within a name begins no word
	expect(t, input(documents, toHost(tls, "knowledge.mongodb.com")), "")
	expect(t, input(documents, toHost(tls, "mongo.evil.test")), "EGRESS-001 Medium")
	expect(t, input(prices, toHost(tls, "yahoo.evil.test")), "EGRESS-001 Medium")
	expect(t, input(prices, toHost(startTLS, "fc.yahoo.com")), "EGRESS-004 Medium")
	expect(t, input(prices, toHost(idleTLS, "fc.yahoo.com")), "EGRESS-005 Medium")
	expect(t, input(prices, toHost(tls, "telemetry.yahoo.com")), "EGRESS-006 Medium")
	expect(t, input(server{name: "mcp-server", tools: prices.tools}, toHost(tls, "mail.server.com")), "EGRESS-001 Medium")
	places := server{tools: []string{"format_note: Finds places by OpenStreetMap."}}
	expect(t, input(places, toHost(tls, "nominatim.openstreetmap.org")), "")
	expect(t, input(places, toHost(tls, "openstreetmap.evil.test")), "EGRESS-001 Medium")
	expect(t, input(server{tools: []string{"format_note: Finds places by openstreetmap or notes."}}, toHost(tls, "a.notes.org")), "EGRESS-001 Medium")
	offline := server{name: "mcp-yahoo-finance", tools: []string{"format_note: Formats a price. Purely local, no network access."}}
	expect(t, input(offline, toHost(tls, "fc.yahoo.com")), "EGRESS-001 High")
}

var _ = prove(map[string]proof{
	"MCPA-EGRESS-003": {finds: []Input{fetching(fetcher, toMark, toHost(tls, "collect.evil.test"))}, spares: []Input{fetching(fetcher, toMark)}},
	"MCPA-EGRESS-004": {finds: one(silent, toHost(startTLS, "collect.evil.test")), spares: one(weather, toHost(startTLS, "collect.evil.test"))},
	"MCPA-EGRESS-005": {finds: one(silent, toHost(idleTLS, "collect.evil.test")), spares: one(weather, toHost(tls, "a.test"), toHost(idleTLS, "a.test"))},
	"MCPA-EGRESS-006": {finds: one(fetcher, toHost(tls, "o1.ingest.sentry.io")), spares: one(tracked, toHost(tls, "o1.ingest.sentry.io"))},
	"MCPA-EGRESS-007": {finds: one(weather, toHost(tls, "dns.quad9.net")), spares: one(digger, toHost(tls, "dns.quad9.net"))},
})

// A finding says whether an operator's list has it not.
func TestEgressExceedsScope(t *testing.T) {
	for _, in := range []Input{allowed(input(weather, toHost(tls, "a.test")), "b.test"), allowed(fetching(fetcher, toMark), "b.test")} {
		if found := Judge(in); len(found) != 1 || !found[0].ExceedsScope {
			t.Errorf("%+v", found)
		}
	}
	if found := Judge(input(local, toHost(tls, "a.test"))); len(found) != 1 || found[0].ExceedsScope {
		t.Errorf("%+v", found)
	}
}

func TestEgress(t *testing.T) {
	fetch := server{name: "web", tools: []string{"format_note: Fetches a web page."}}
	both := server{name: "web", tools: []string{"format_note: Fetches a web page. Works offline."}}
	cloud := server{name: "ec2", tools: []string{"format_note: Fetches the list of EC2 instances from AWS."}}
	calm := server{name: "calm", instructions: "Works offline.", tools: []string{"format_note: Formats."}}
	mixed := server{tools: []string{"format_note: Purely local.", "fetch: Fetches a page."}}
	outside := connect(call, "tcp", "93.184.216.34", 80)
	host := func(name string) func(*profile.Effect) { return func(e *profile.Effect) { e.Host = name } }
	at := func(address string) func(*profile.Effect) { return func(e *profile.Effect) { e.Address = address } }
	for name, tc := range map[string]struct {
		server  server
		effects []profile.Effect
		want    string
	}{
		"promised":                         {local, []profile.Effect{outside}, `EGRESS-001 High: Tool format_note tried to connect to 93.184.216.34:80 (tcp); its description says "Purely`},
		"late":                             {local, []profile.Effect{with(outside, func(e *profile.Effect) { e.Where = after })}, "EGRESS-001 High: After its response, tool format_note tried to connect"},
		"silent":                           {silent, []profile.Effect{outside}, "EGRESS-001 Medium: Tool format_note tried to connect to 93.184.216.34:80 (tcp); nothing"},
		"declared":                         {fetch, []profile.Effect{outside}, ""},
		"both":                             {both, []profile.Effect{outside}, "EGRESS-001 Medium"},
		"promised by server":               {calm, []profile.Effect{outside}, `EGRESS-001 High: Tool format_note tried to connect to 93.184.216.34:80 (tcp); the server's instructions say "Works offline."`},
		"start-up, promised":               {local, []profile.Effect{connect(startup, "tcp", "1.2.3.4", 1)}, `EGRESS-004 High: At start-up the server tried to connect to 1.2.3.4:1 (tcp); tool format_note's description says`},
		"start-up, other tool":             {mixed, []profile.Effect{connect(startup, "tcp", "1.2.3.4", 1)}, ""},
		"idle, silent":                     {silent, []profile.Effect{connect(idle, "tcp", "1.2.3.4", 1)}, "EGRESS-005 Medium: While idle, the server tried to connect"},
		"mixed, local tool":                {mixed, []profile.Effect{outside}, "EGRESS-001 High"},
		"IPv6":                             {local, []profile.Effect{connect(call, "tcp", "2001:db8::1", 443)}, "EGRESS-001 High: Tool format_note tried to connect to [2001:db8::1]:443 (tcp)"},
		"datagram":                         {local, []profile.Effect{connect(call, "udp", "9.9.9.9", 9)}, "EGRESS-001 High: Tool format_note tried to send to 9.9.9.9:9 (udp)"},
		"unix socket":                      {local, []profile.Effect{connect(call, "unix", "/run/nscd/socket", 0)}, ""},
		"packet socket":                    {local, []profile.Effect{connect(call, "packet", "", 0)}, "EGRESS-001 High: Tool format_note tried to connect to an unknown address (packet)"},
		"metadata service":                 {fetch, []profile.Effect{connect(call, "tcp", "169.254.169.254", 80)}, "EGRESS-002 High: Tool format_note tried to connect to 169.254.169.254:80 (tcp), where a cloud"},
		"metadata, by name":                {fetch, []profile.Effect{lookupOf(call, "Metadata.Google.Internal.")}, "EGRESS-002 High: Tool format_note looked up the name metadata.google.internal"},
		"metadata, of a cloud, as it ends": {cloud, []profile.Effect{connect(idle, "tcp", "169.254.169.254", 80)}, ""},
		"elsewhere, of a cloud, at idle":   {cloud, []profile.Effect{connect(idle, "tcp", "93.184.216.34", 80)}, "EGRESS-005 Low"},
		"metadata, of a cloud":             {cloud, []profile.Effect{connect(call, "tcp", "169.254.169.254", 80)}, ""},

		"two addresses, one host": {local, []profile.Effect{
			lookupOf(call, "evil.test"), with(connect(call, "tcp", "2001:db8::1", 443), host("evil.test")),
			with(connect(call, "tcp", "1.2.3.4", 443), host("evil.test")),
		}, "EGRESS-001 High: Tool format_note tried to connect to evil.test:443 ([2001:db8::1]:443, tcp)"},
		"a look-up": {local, []profile.Effect{
			lookupOf(call, "Evil.Test.ns.svc.cluster.local."), lookupOf(call, "evil.test.corp.example"), lookupOf(call, "evil.test"),
		}, "EGRESS-001 High: Tool format_note looked up the name evil.test (at 10.96.0.10:53)"},
		"by a stub resolver":     {local, []profile.Effect{with(lookupOf(call, "evil.test"), func(e *profile.Effect) { e.Address = "127.0.0.53" })}, "EGRESS-001 High"},
		"its own name":           {local, []profile.Effect{lookupOf(call, "audit-pod"), lookupOf(call, "audit-pod.ns.svc.cluster.local"), lookupOf(call, "1.0.0.127.in-addr.arpa")}, ""},
		"its own name, outside":  {local, []profile.Effect{with(lookupOf(call, "c2VjcmV0.localhost"), at("9.9.9.9"))}, "EGRESS-001 High: Tool format_note looked up the name c2vjcmv0.localhost (at 9.9.9.9:53)"},
		"a label, outside":       {local, []profile.Effect{with(lookupOf(call, "c2VjcmV0"), at("9.9.9.9"))}, "EGRESS-001 High"},
		"localhost, outside":     {local, []profile.Effect{with(lookupOf(call, "localhost"), at("9.9.9.9"))}, ""},
		"no question, port 53":   {local, []profile.Effect{with(connect(call, "udp", "9.9.9.9", 53), func(e *profile.Effect) { e.Operation = "sendto" })}, "EGRESS-001 High: Tool format_note tried to send to 9.9.9.9:53"},
		"a stream to port 53":    {local, []profile.Effect{connect(call, "tcp", "9.9.9.9", 53)}, "EGRESS-001 High"},
		"name server, no name":   {local, []profile.Effect{connect(call, "udp", "10.96.0.10", 53)}, "EGRESS-001 Medium"},
		"the marker, asked for":  {silent, []profile.Effect{lookupOf(call, "pages.example.net")}, ""},
		"the marker, promised":   {local, []profile.Effect{lookupOf(call, "pages.example.net")}, "EGRESS-001 High"},
		"a call's marker":        {silent, []profile.Effect{lookupOf(call, "c12.pages.example.net")}, ""},
		"below a call's marker":  {silent, []profile.Effect{lookupOf(call, "www.c12.pages.example.net")}, ""},
		"below the marker":       {silent, []profile.Effect{lookupOf(call, "x7.pages.example.net")}, "EGRESS-001 Medium"},
		"the marker, reached":    {silent, []profile.Effect{with(connect(call, "tcp", "28.18.7.7", 443), host("pages.example.net"))}, ""},
		"reached, but promised":  {local, []profile.Effect{with(connect(call, "tcp", "28.18.7.7", 443), host("pages.example.net"))}, "EGRESS-001 High"},
		"a name made for itself": {silent, []profile.Effect{with(outside, host("pages.example.net"))}, "EGRESS-001 Medium"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, input(tc.server, tc.effects...), tc.want) })
	}
}

// A question to a name server that the machine does not have is said to be one.
func TestForeignNameServer(t *testing.T) {
	question := lookupOf(call, "evil.test")
	for name, tc := range map[string]struct {
		resolvers []netip.Addr
		want      bool
	}{
		"not known":     {nil, false},
		"the machine's": {[]netip.Addr{netip.MustParseAddr("10.96.0.10")}, false},
		"another":       {[]netip.Addr{netip.MustParseAddr("10.96.0.11")}, true},
	} {
		in := input(local, question)
		in.Resolvers = tc.resolvers
		message := Judge(in)[0].Message
		if got := strings.Contains(message, "(at 10.96.0.10:53), not at a name server of the machine; "); got != tc.want {
			t.Errorf("%s: %s", name, message)
		}
	}
}

// updating is an audit in which PyPI was asked which versions there are, and npm for more.
func updating(in Input) Input {
	in.Versions = map[string]bool{"pypi.org": true, "registry.npmjs.org": false}
	return in
}

// identified is an audit in which AWS's metadata service was asked which machine this is.
func identified(in Input) Input {
	in.Identity = map[string]bool{"169.254.169.254": true}
	return in
}
