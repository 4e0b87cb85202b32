package sinkhole

import (
	"fmt"
	"net/http"
	"strings"
)

// gitReferences is the first request of a git client (git, "HTTP transfer protocols", Smart Clients).
const gitReferences, gitFetches = "/info/refs", "git-upload-pack"

// git serves an empty repository at every path, which any client can clone with one request.
func git(r *http.Request) (answer content, is bool) {
	if !strings.HasSuffix(r.URL.Path, gitReferences) || r.URL.Query().Get("service") != gitFetches {
		return content{}, false
	}
	body := gitLine("# service="+gitFetches+"\n") + gitFlush + gitLine(strings.Repeat("0", 40)+" capabilities^{}\x00agent=git/2.39\n") + gitFlush
	return content{kind: "application/x-" + gitFetches + "-advertisement", body: body}, true
}

// gitFlush ends a section of lines.
const gitFlush = "0000"

// gitLine writes a line with its length.
func gitLine(text string) string { return fmt.Sprintf("%04x%s", len(gitFlush)+len(text), text) }
