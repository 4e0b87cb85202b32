package plan

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Transport is a row of the table of transports.
type Transport struct {
	Name report.Transport
	// Flag is what people type for it: --transport http.
	Flag string
	// Listens: the server is talked to over HTTP.
	Listens bool
	// Path of the endpoint unless somebody says otherwise.
	Path string
}

// Transports has every transport, the default first.
var Transports = []Transport{
	{Name: report.TransportStdio, Flag: "stdio"},
	{Name: report.TransportStreamableHTTP, Flag: "http", Listens: true, Path: "/mcp"},
	{Name: report.TransportSSE, Flag: "sse", Listens: true, Path: "/sse"},
}

// ByName returns the row of a transport; that of Stdio for an empty or unknown name.
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
