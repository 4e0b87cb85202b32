package places

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// maxPlanted bounds the kept part of a planted command, in bytes.
const maxPlanted = 200

var (
	// downloaded matches a shell that runs a download.
	downloaded = lazyregexp.New(`(?i)\b(?:curl|wget)\b[^\n]{0,200}?\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|` +
		`\b(?:(?:ba|z|da|k)?sh(?:\s+-c)?|eval|source)\s+["']?(?:\$\(|<\()\s*(?:curl|wget)\b[^\n]{0,200}`)
	// onInstall matches a script that npm runs when it installs a package (npm, scripts, "Life Cycle Scripts").
	onInstall = lazyregexp.New(`"(?:(?:pre|post)?install|prepare)"\s*:\s*"[^"\n]{1,200}`)
	// takenFrom matches where a package manager takes packages from, or sends them; one of its groups is the host.
	takenFrom = lazyregexp.New(`(?i)\b(?:registry|npmRegistryServer|(?:extra-)?index-url|find-links)"?\s*[:= ]\s*"?https?://([\w.-]+)[^\s"]*|` +
		`"[\w@/.-]+"\s*:\s*"https?://([\w.-]+)[^\s"]*\.tgz\b`)
)

// registries are the hosts that packages come from by default, and those of well-known vendors.
var registries = words.SetOf("registry.npmjs.org", "registry.yarnpkg.com", "npm.pkg.github.com", "npm.jsr.io", "jsr.io", "pypi.org", "test.pypi.org", "files.pythonhosted.org",
	"download.pytorch.org", "pypi.nvidia.com", "data.pyg.org", "wheels.vllm.ai", "registry.npmmirror.com", "localhost", "127.0.0.1")

// Planted returns what takes effect on its own in the text of a file: a command that runs or downloads code, or another
// place to take packages from; "" for none. It recognizes a package.json by its text, because the audit may have given
// the file another name.
func Planted(name string, text []byte) string {
	found := ""
	if bytes.Contains(text, []byte("curl")) || bytes.Contains(text, []byte("wget")) {
		found = downloaded.FindString(string(text))
	}
	if found == "" && path.Ext(name) == ".json" {
		found = onInstall.FindString(string(text))
	}
	if found == "" && bytes.Contains(text, []byte("://")) {
		found = foreignSource(name, string(text))
	}
	return found[:min(len(found), maxPlanted)]
}

// foreignSource returns where a file of a package manager has packages taken from that is no usual place; "" for nowhere.
func foreignSource(name, text string) string {
	if o, ok := ObeyedAt(name); !ok || !slices.Contains(o.Topics, "npm") && !slices.Contains(o.Topics, "package") {
		return ""
	}
	for _, source := range takenFrom.FindAllStringSubmatch(text, maxSources) {
		if !registries[strings.ToLower(source[1]+source[2])] {
			return source[0]
		}
	}
	return ""
}

// SourceOf returns the host of what Planted returned; "" if it is no source of packages.
func SourceOf(planted string) string {
	if source := takenFrom.FindStringSubmatch(planted); source != nil {
		return source[1] + source[2]
	}
	return ""
}

// maxSources bounds the sources of a file that are looked at.
const maxSources = 256
