package sinkhole

import "net/http"

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
