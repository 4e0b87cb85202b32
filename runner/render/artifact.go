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

// artifact returns the URI of the server's file, as far as its command shows: the script
// that an interpreter runs, the package that a package runner fetches, or the program. A
// relative path stays relative, so that GitHub finds the file in a repository whose root
// the audit ran in; an absolute path becomes a file URI, which GitHub makes relative to its
// checkout. For a remote server it is the host and the path without a scheme: GitHub
// refuses an upload with another scheme than the checkout's.
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

// remote returns a URL without its scheme, its credentials and its query.
func remote(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "remote-mcp-server"
	}
	return relative(u.Host + u.Path)
}

// relative returns a path as a relative reference (RFC 3986, 4.2). Colons are escaped: in
// the first segment one would end a scheme.
func relative(file string) string {
	var segments []string
	for _, segment := range strings.Split(strings.TrimLeft(path.Clean("/"+file), "/"), "/") {
		segments = append(segments, strings.ReplaceAll(url.PathEscape(segment), ":", "%3A"))
	}
	return cmp.Or(strings.Join(segments, "/"), "mcp-server")
}

// scripts are the file extensions of scripts.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".pyz", ".rb", ".jar", ".php", ".sh", ".pl", ".lua", ".dll", ".wasm"}

// program returns the part of a command that identifies the server.
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
