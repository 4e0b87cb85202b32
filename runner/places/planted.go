package places

import (
	"bytes"
	"path"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxPlanted bounds the kept part of a planted command, in bytes.
const maxPlanted = 200

var (
	// downloaded matches a shell that runs a download.
	downloaded = lazyregexp.New(`(?i)\b(?:curl|wget)\b[^\n]{0,200}?\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|` +
		`\b(?:(?:ba|z|da|k)?sh(?:\s+-c)?|eval|source)\s+["']?(?:\$\(|<\()\s*(?:curl|wget)\b[^\n]{0,200}`)
	// onInstall matches a script that npm runs when it installs a package (npm, scripts, "Life Cycle Scripts").
	onInstall = lazyregexp.New(`"(?:(?:pre|post)?install|prepare)"\s*:\s*"[^"\n]{1,200}`)
)

// Planted returns a command in the text of a file that runs on its own or downloads code; "" for none. It recognizes a
// package.json by its text, because the audit may have given the file another name.
func Planted(name string, text []byte) string {
	found := ""
	if bytes.Contains(text, []byte("curl")) || bytes.Contains(text, []byte("wget")) {
		found = downloaded.FindString(string(text))
	}
	if found == "" && path.Ext(name) == ".json" {
		found = onInstall.FindString(string(text))
	}
	return found[:min(len(found), maxPlanted)]
}
