package sinkhole

import (
	"net/http"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// online has the answers of well-known paths: those that programs request to check for an internet connection
// (a program that hides from an audit asks there first), and robots.txt, which a site may lack.
var online = map[string]content{
	"/robots.txt":               {kind: "text/plain", body: "Not found.\n", status: http.StatusNotFound},
	"/generate_204":             {kind: "text/plain", status: http.StatusNoContent},
	"/gen_204":                  {kind: "text/plain", status: http.StatusNoContent},
	"/success.txt":              {kind: "text/plain", body: "success\n"},
	"/canonical.html":           {kind: "text/html", body: `<meta http-equiv="refresh" content="0;url=https://support.mozilla.org/kb/captive-portal"/>`},
	"/connecttest.txt":          {kind: "text/plain", body: "Microsoft Connect Test"},
	"/ncsi.txt":                 {kind: "text/plain", body: "Microsoft NCSI"},
	"/hotspot-detect.html":      {kind: "text/html", body: "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>\n"},
	"/check_network_status.txt": {kind: "text/plain", body: "NetworkManager is online\n"},
}

// echoes are hosts that answer with nothing but the caller's address, unless they are asked for JSON.
var echoes = words.SetOf("api.ipify.org", "api4.ipify.org", "ipv4.icanhazip.com", "icanhazip.com", "ifconfig.me", "ifconfig.co", "ident.me", "v4.ident.me", "checkip.amazonaws.com", "ipecho.net", "ip.sb", "myexternalip.com")

// isOnline returns the answer to a request of a program that checks its connection; false for another one.
func isOnline(r *http.Request) (content, bool) {
	if r.Method != http.MethodGet {
		return content{}, false
	}
	if echoes[strings.ToLower(r.Host)] && !strings.Contains(r.URL.String()+r.Header.Get("Accept"), "json") {
		return content{kind: "text/plain", body: hashed("home", Fake).String() + "\n"}, true
	}
	c, is := online[r.URL.Path]
	return c, is
}
