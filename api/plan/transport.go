package plan

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TransportAuto lets the audit find the transport: stdin and stdout, or else a port on which
// the server is seen to listen. Reports have the transport that was found.
const TransportAuto report.Transport = "Auto"

// Transport is a row of the table of transports.
type Transport struct {
	Name report.Transport
	// Flag is the name on the command line, as in --transport http.
	Flag string
	// Listens: the transport is over HTTP.
	Listens bool
	// Path is the default path of the endpoint. Others are tried after it if no path is given.
	Path   string
	Others []string
}

// Transports lists all transports, the default first.
var Transports = []Transport{
	{Name: TransportAuto, Flag: "auto"},
	{Name: report.TransportStdio, Flag: "stdio"},
	{Name: report.TransportStreamableHTTP, Flag: "http", Listens: true, Path: "/mcp", Others: []string{"/", "/mcp/"}},
	{Name: report.TransportSSE, Flag: "sse", Listens: true, Path: "/sse"},
}

// ByName returns the row of a transport, or that of Auto for an empty or unknown name.
func ByName(name report.Transport) Transport {
	for _, t := range Transports {
		if t.Name == name {
			return t
		}
	}
	return Transports[0]
}

// ByFlag returns the row of a transport by its flag or its name, as in "streamable-http".
func ByFlag(flag string) (Transport, bool) {
	for _, t := range Transports {
		if t.Flag == flag || strings.EqualFold(strings.ReplaceAll(flag, "-", ""), string(t.Name)) {
			return t, true
		}
	}
	return Transport{}, false
}
