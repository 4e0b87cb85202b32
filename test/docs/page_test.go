package docs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// root is the root of the tree.
var root = filepath.Join("..", "..")

// page is a Markdown file as the tests see it.
type page struct {
	path       string // from the root of the tree
	source     []byte
	blocks     []block
	spans      []span // `code` in sentences
	links      []span // destinations
	headings   []string
	ids        []string // <a id="...">
	serial     bool
	namespaces []string // what the page calls its namespaces
	faults     []string
}

// block is a fenced block, or hidden commands in a comment.
type block struct {
	first, last int // lines of the fences, counted from 1
	language    string
	attributes  map[string]string
	text        string
	hidden      bool
}

type span struct {
	line int
	text string
}

// pages reads all pages of the documentation.
func pages(t *testing.T) []*page {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md"}
	for _, dir := range []string{"docs", "charts"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && filepath.Ext(path) == ".md" && (dir == "docs" || entry.Name() == "README.md") {
				relative, err := filepath.Rel(root, path)
				paths = append(paths, relative)
				return err
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	all := make([]*page, 0, len(paths))
	for _, path := range paths {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parse(path, source))
	}
	return all
}

func (p *page) fault(line int, format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf("%s:%d: ", p.path, line)+fmt.Sprintf(format, args...))
}

// line returns where an offset lies, counted from 1.
func (p *page) line(offset int) int {
	return 1 + bytes.Count(p.source[:min(offset, len(p.source))], []byte("\n"))
}

func parse(path string, source []byte) *page {
	p := &page{path: path, source: source}
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	line := 1
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if node.Type() == ast.TypeBlock && node.Lines().Len() > 0 {
			line = p.line(node.Lines().At(0).Start)
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			p.fenced(node)
		case *ast.CodeBlock:
			p.fault(line, "a block by indentation: give it fences and an info string")
		case *ast.HTMLBlock:
			p.html(line, raw(node, source))
		case *ast.RawHTML:
			p.html(line, string(node.Segments.Value(source)))
		case *ast.Heading:
			p.headings = append(p.headings, plain(node, source))
		case *ast.Link:
			p.links = append(p.links, span{line, string(node.Destination)})
		case *ast.Image:
			p.links = append(p.links, span{line, string(node.Destination)})
		case *ast.AutoLink:
			p.links = append(p.links, span{line, string(node.URL(source))})
		case *ast.CodeSpan:
			p.spans = append(p.spans, span{line, plain(node, source)})
		case *ast.Text:
			line = p.line(node.Segment.Start)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// raw is all of a block of HTML.
func raw(node *ast.HTMLBlock, source []byte) string {
	all := string(node.Lines().Value(source))
	if node.HasClosure() {
		all += string(node.ClosureLine.Value(source))
	}
	return all
}

// plain is the text of a node without its markup.
func plain(node ast.Node, source []byte) string {
	var all strings.Builder
	_ = ast.Walk(node, func(child ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch child := child.(type) {
		case *ast.Text:
			all.Write(child.Segment.Value(source))
			if child.SoftLineBreak() {
				all.WriteByte(' ')
			}
		case *ast.String:
			all.Write(child.Value)
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}

// allowed are the info strings, and the attributes of each.
var allowed = map[string][]string{
	"sh": {"skip", "exit"}, "yaml": {"skip"}, "json": nil, "text": nil, "console": nil, "mermaid": nil,
}

var (
	info      = regexp.MustCompile(`^([a-z]+)((?: [a-z]+="[^"]*")*)$`)
	attribute = regexp.MustCompile(` ([a-z]+)="([^"]*)"`)
)

func (p *page) fenced(node *ast.FencedCodeBlock) {
	b := block{text: string(node.Lines().Value(p.source)), attributes: map[string]string{}}
	if node.Info != nil {
		b.first = p.line(node.Info.Segment.Start)
	} else if node.Lines().Len() > 0 {
		b.first = p.line(node.Lines().At(0).Start) - 1
	}
	b.last = b.first + node.Lines().Len() + 1
	if node.Info == nil {
		p.fault(b.first, "the block has no info string: see test/docs/doc.go")
		return
	}
	match := info.FindStringSubmatch(string(node.Info.Value(p.source)))
	if match == nil {
		p.fault(b.first, "the info string %q is not LANGUAGE or LANGUAGE name=\"value\"", node.Info.Value(p.source))
		return
	}
	b.language = match[1]
	names, known := allowed[b.language]
	if !known {
		p.fault(b.first, "the info string %q is none of those in test/docs/doc.go", b.language)
		return
	}
	for _, pair := range attribute.FindAllStringSubmatch(match[2], -1) {
		if !slices.Contains(names, pair[1]) || strings.TrimSpace(pair[2]) == "" {
			p.fault(b.first, "%s=%q: %s can have %v, each with a value", pair[1], pair[2], b.language, names)
		}
		if _, err := strconv.ParseUint(pair[2], 10, 8); err != nil && pair[1] == "exit" {
			p.fault(b.first, "exit=%q: an exit code", pair[2])
		}
		b.attributes[pair[1]] = pair[2]
	}
	p.blocks = append(p.blocks, b)
}

var (
	reference = regexp.MustCompile(`(?i)<[a-z]+\s[^>]*?\b(?:href|src)="([^"]*)"`)
	id        = regexp.MustCompile(`(?i)<[a-z]+\s[^>]*?\b(?:id|name)="([^"]*)"`)
)

// html reads the directives to the tests, and the links and anchors of other HTML.
func (p *page) html(line int, content string) {
	content = strings.TrimSpace(content)
	directive, found := strings.CutPrefix(content, "<!-- docs-test:")
	if !found {
		if !strings.HasPrefix(content, "<!--") {
			for _, match := range reference.FindAllStringSubmatch(content, -1) {
				p.links = append(p.links, span{line, match[1]})
			}
			for _, match := range id.FindAllStringSubmatch(content, -1) {
				p.ids = append(p.ids, match[1])
			}
		}
		return
	}
	directive = strings.TrimSpace(strings.TrimSuffix(directive, "-->"))
	name, isNamespace := strings.CutPrefix(directive, "namespace=")
	script, isScript := strings.CutPrefix(directive, "sh\n")
	switch {
	case directive == "serial":
		p.serial = true
	case isNamespace && namespaceName.MatchString(name):
		p.namespaces = append(p.namespaces, name)
	case isScript:
		p.blocks = append(p.blocks, block{
			first: line, last: line + 1 + strings.Count(script, "\n") + 1, language: "sh", text: script + "\n", hidden: true,
		})
	default:
		p.fault(line, "docs-test: %q is none of the directives in test/docs/doc.go", directive)
	}
}

var namespaceName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
