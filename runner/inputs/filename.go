package inputs

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// File extensions: a text names one as ".xlsx", a description also as
// "report.xlsx".
var (
	ending  = lazyregexp.New("(?:^|[\\s('\"`*,/])\\.([a-z][a-z0-9]{1,8})\\b")
	example = lazyregexp.New(`(?i)\b[\w-]+\.(xlsx|docx|pptx|pdf|csv|json|md|html|png|jpg|svg|db|sqlite|ipynb|py|js|ts|yaml|xml|zip|tar\.gz|tar|tgz|wav|mmd)\b`)
)

// formatWords has the file extensions for words such as "spreadsheet", the likeliest first.
var formatWords = map[string]string{
	"workbook": "xlsx", "excel": "xlsx", "spreadsheet": "xlsx", "xlsx": "xlsx", "docx": "docx", "pptx": "pptx", "powerpoint": "pptx",
	"presentation": "pptx", "pdf": "pdf", "notebook": "ipynb", "jupyter": "ipynb", "ipynb": "ipynb", "sqlite": "db", "database": "db",
	"image": "png", "picture": "png", "photo": "png", "png": "png", "jpeg": "jpg", "jpg": "jpg", "gif": "gif", "svg": "svg", "audio": "wav", "sound": "wav",
	"wav": "wav", "zip": "zip", "archive": "zip tar gz", "tar": "tar", "tarball": "gz", "tgz": "tgz", "gz": "gz", "csv": "csv", "markdown": "md", "json": "json", "yaml": "yaml", "xml": "xml", "html": "html",
	"mermaid": "mmd",
}

// endingsOf returns the extensions of the files that a place asks for, the likeliest first: from refusals, its
// description, refusals of another tool, and words; none for any file.
func (f *Form) endingsOf(n *node) []string {
	if taught := f.taught(n).endings; len(taught) > 0 {
		return taught
	}
	description := said(n)
	for _, form := range []*lazyregexp.Regexp{ending, example} {
		if found := endings(form, description); len(found) > 0 {
			return found
		}
	}
	if known := f.options.Ways.endingsOf(n.name); known != nil {
		return known
	}
	for _, words := range [][]string{split(n.name), nouns(description), f.about} {
		for _, word := range singular(words) {
			if format, known := formatWords[word]; known {
				return strings.Fields(format)
			}
		}
	}
	return nil
}

// endings returns the extensions that a text names.
func endings(form *lazyregexp.Regexp, text string) (found []string) {
	for _, match := range form.FindAllStringSubmatch(text, maxOffers) {
		if each := strings.ToLower(match[1]); !slices.Contains(found, each) {
			found = append(found, each)
		}
	}
	return found
}

// extension returns the extension of a new file.
func (f *Form) extension(n *node) string {
	wanted := f.endingsOf(n)
	for _, each := range wanted {
		if len(f.options.having(each, false)) > 0 && aliases[each] == "" {
			return each
		}
	}
	if len(wanted) > 0 {
		return wanted[0]
	}
	return "txt"
}

// isBare reports whether a place asks for the name of a file, perhaps without a
// directory.
func isBare(n *node) bool {
	words := split(n.name)
	last := len(words) - 1
	return last >= 0 && (words[last] == "filename" || last > 0 && words[last-1] == "file" && words[last] == "name")
}

// newPath returns an unused path: a bare name every other time where the name of a file is asked for, and
// always where an absolute path was refused.
func (d *draft) newPath(n *node) (string, bool) {
	f, name := d.form, d.mark.ID()
	switch {
	case !f.isPath(n):
		return "", false
	case f.isDirectory(n):
	case has(split(n.name), targetWords):
		name += "-copy." + f.extension(n)
	default:
		name = strings.TrimSuffix(d.mark.File(), "txt") + f.extension(n)
	}
	if isBare(n) && f.made%2 == 0 || f.relative(n) {
		return name, true
	}
	dir := f.options.dir()
	if dirs := f.taught(n).dirs; len(dirs) > 0 {
		dir = dirs[0]
	}
	if d.holds(n, candidate{value: path.Join(dir, name)}) {
		name = d.mark.ID() + "-" + strings.Join(split(n.name), "-") + path.Ext(name)
	}
	return path.Join(dir, name), true
}
