package inputs

import (
	"path"
	"regexp"
	"strings"
)

// How names of files end: a text says so by ".xlsx", a description also by
// "report.xlsx".
var (
	ending  = regexp.MustCompile("(?:^|[\\s('\"`*,])\\.([a-z][a-z0-9]{1,4})\\b")
	example = regexp.MustCompile(`(?i)\b[\w-]+\.(xlsx|docx|pptx|pdf|csv|json|md|html|png|jpg|svg|db|sqlite|ipynb|py|js|ts|yaml|xml|zip)\b`)
)

// extension returns how the names of files end that a tool wants: an error of its said
// so, or the description; else it is a text.
func (d *draft) extension(n *node) string {
	description, _ := n.s["description"].(string)
	description = head(description, maxLength)
	if known := d.pool.extension(d.form.options.About); known != "" {
		return known
	}
	for _, form := range []*regexp.Regexp{ending, example} {
		if found := form.FindStringSubmatch(description); found != nil {
			return strings.ToLower(found[1])
		}
	}
	return "txt"
}

// extension returns what an error of a tool said of how the names of its files end; "" for
// nothing.
func (p *Pool) extension(tool string) string {
	if p == nil {
		return ""
	}
	return p.extensions["tool "+tool]
}

// isBare reports whether a place asks for the name of a file, which may have to stand
// without a directory.
func isBare(n *node) bool {
	words := split(n.name)
	last := len(words) - 1
	return last >= 0 && (words[last] == "filename" || last > 0 && words[last-1] == "file" && words[last] == "name")
}

// newPath is one that nothing has yet; where it is to be a name, every other time.
func (d *draft) newPath(n *node) (string, bool) {
	f, name := d.form, d.mark.ID()
	switch {
	case !f.isPath(n):
		return "", false
	case f.isDirectory(n):
	case has(split(n.name), targetWords):
		name += "-copy." + d.extension(n)
	default:
		name = strings.TrimSuffix(d.mark.File(), "txt") + d.extension(n)
	}
	if isBare(n) && f.made%2 == 0 {
		return name, true
	}
	return path.Join(f.options.dir(), name), true
}
