package plan

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TransportAuto leaves it to the audit how the server is talked to: over its stdin and
// stdout, or else where it is seen to listen. No report has it.
const TransportAuto report.Transport = "Auto"

// Transport is a row of the table of transports.
type Transport struct {
	Name report.Transport
	// Flag names it on the command line: --transport http.
	Flag string
	// Listens: the server is talked to over HTTP.
	Listens bool
	// Path of the endpoint unless somebody says otherwise. Others are paths that are
	// tried after it where nobody has said anything.
	Path   string
	Others []string
}

// Transports has every transport, the default first.
var Transports = []Transport{
	{Name: TransportAuto, Flag: "auto"},
	{Name: report.TransportStdio, Flag: "stdio"},
	{Name: report.TransportStreamableHTTP, Flag: "http", Listens: true, Path: "/mcp", Others: []string{"/", "/mcp/"}},
	{Name: report.TransportSSE, Flag: "sse", Listens: true, Path: "/sse"},
}

// ByName returns the row of a transport; that of Auto for an empty or unknown name.
func ByName(name report.Transport) Transport {
	for _, t := range Transports {
		if t.Name == name {
			return t
		}
	}
	return Transports[0]
}

// ByFlag returns the row of what somebody typed: the flag, or the name, as in
// "streamable-http".
func ByFlag(flag string) (Transport, bool) {
	for _, t := range Transports {
		if t.Flag == flag || strings.EqualFold(strings.ReplaceAll(flag, "-", ""), string(t.Name)) {
			return t, true
		}
	}
	return Transport{}, false
}
