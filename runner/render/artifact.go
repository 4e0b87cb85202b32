package render

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// artifact is the URI of the file that a server is, as near as its command tells: the
// script that an interpreter runs, the package that a package runner fetches, else the
// program. A relative path stays one, so that GitHub finds the file in a repository
// whose root the audit was made in; an absolute one is a file URI, which GitHub makes
// relative to its checkout. Of a remote server it is the host and the path without the
// scheme: GitHub refuses a whole upload that has a scheme other than that of the checkout.
func artifact(s report.ServerRun) string {
	if s.URL != "" {
		return remote(s.URL)
	}
	file := program(s.Command)
	if strings.HasPrefix(file, "/") {
		return (&url.URL{Scheme: "file", Path: path.Clean(file)}).String()
	}
	return relative(cmp.Or(file, s.Name, "mcp-server"))
}

// remote is a URL without its scheme, its credentials and its query.
func remote(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "remote-mcp-server"
	}
	return relative(u.Host + u.Path)
}

// relative is a path as a relative reference (RFC 3986, 4.2). A colon in its first
// segment would make a scheme of that, so that all are escaped.
func relative(file string) string {
	var segments []string
	for _, segment := range strings.Split(strings.TrimLeft(path.Clean("/"+file), "/"), "/") {
		segments = append(segments, strings.ReplaceAll(url.PathEscape(segment), ":", "%3A"))
	}
	return cmp.Or(strings.Join(segments, "/"), "mcp-server")
}

// scripts are the endings of what an interpreter runs.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".pyz", ".rb", ".jar", ".php", ".sh", ".pl", ".lua", ".dll", ".wasm"}

// program is the part of a command that says which server it is.
func program(command []string) string {
	if len(command) == 0 {
		return ""
	}
	for _, arg := range command[1:] {
		if !strings.HasPrefix(arg, "-") && slices.Contains(scripts, strings.ToLower(path.Ext(arg))) {
			return arg
		}
	}
	if l, ok := pkgmanager.Launches(command); ok {
		return l.Package
	}
	return command[0]
}
