package sinkhole

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// downloads are file formats that a client may request: media types, file extensions, and
// errors of clients that got something else.
var downloads = []struct {
	kind    string
	endings []string
	refused *lazyregexp.Regexp
}{
	{"application/pdf", []string{"pdf"}, notA(`pdf`)},
	{"image/png", []string{"png", "webp", "bmp", "ico"}, notA(`images?|png|webp|picture`)},
	{"image/jpeg", []string{"jpg", "jpeg"}, notA(`jpe?g`)},
	{"image/gif", []string{"gif"}, notA(`gif`)},
	{"image/svg+xml", []string{"svg"}, notA(`svg`)},
	{"audio/wav", []string{"wav", "mp3", "ogg"}, notA(`audio|sound|wav|mp3`)},
	{"application/zip", []string{"zip", "whl", "jar"}, notA(`zip`)},
	{"application/gzip", []string{"tgz", "gz"}, notA(`archive|gzip(?:ped)?|tar(?:ball)?`)},
	{inputs.OpenDocument + "spreadsheetml.sheet", []string{"xlsx", "xls"}, notA(`xlsx?|excel|workbook|spreadsheet`)},
	{inputs.OpenDocument + "wordprocessingml.document", []string{"docx", "doc"}, notA(`docx?|word document`)},
	{inputs.OpenDocument + "presentationml.presentation", []string{"pptx", "ppt"}, notA(`pptx?|powerpoint|presentation`)},
}

// notA matches errors saying that content is not of a format. A sentence is short, and each search linear.
func notA(format string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(?:\b(?:no|not|isn't|invalid|unsupported|unrecogni[sz]ed|corrupt(?:ed)?|bad|malformed|expected|unknown|` +
		`(?:failed|unable|error) to (?:parse|read|open|load|decode|identify|extract)|(?:cannot|can't|could not|couldn't) (?:parse|read|open|load|decode|identify|extract))\b` +
		`[^.\n]{0,40}\b(?:` + format + `)\b|\b(?:` + format + `)\b[^.\n]{0,24}\b(?:(?:invalid|unknown|bad|missing) (?:header|signature|structure|format)\b|(?:header|signature|structure|format)\b[^.\n]{0,24}\b(?:not found|missing|invalid|mismatch|unknown)))`)
}

// download returns the file that a request asks for by the extension of its path, or by the first type it accepts.
func download(accept, requested string, names *pseudonym.Names) (content, bool) {
	ending := strings.ToLower(strings.TrimPrefix(path.Ext(requested), "."))
	if archive, is := inputs.ArchiveAt(requested, names); is {
		return content{kind: "application/octet-stream", body: string(archive)}, true
	}
	accepted, _, _ := strings.Cut(strings.ToLower(accept), ",")
	accepted, _, _ = strings.Cut(accepted, ";")
	for _, d := range downloads {
		if slices.Contains(d.endings, ending) || accepted == d.kind || accepted == "image/*" && d.kind == "image/png" {
			return content{kind: d.kind, body: string(inputs.Document(d.endings[0]))}, true
		}
	}
	return content{}, false
}

// wanted returns the extension of the format that a refusal misses; "" if none.
func wanted(refusal string) string {
	for _, d := range downloads {
		if d.refused.MatchString(refusal) {
			return d.endings[0]
		}
	}
	return ""
}
