package docs

import (
	"slices"
	"strings"
	"testing"
)

// The tests of the pages are of no use if they see nothing. Here is what they have to see.

func TestParse(t *testing.T) {
	p := parse("page.md", []byte("# A *page*, `code`: 1\n\n## Twice\n\n## Twice\n\n<!-- docs-test: serial -->\n<!-- docs-test: sh\nkubectl get pods\n-->\n\n"+
		"- in a list\n\n  ```sh exit=\"3\"\n  false\n  exit 3\n  ```\n\n[a](b.md#c) and <https://example.com>\n"))
	if len(p.faults) != 0 || !p.serial || len(p.blocks) != 2 {
		t.Fatalf("%+v", p)
	}
	if hidden := p.blocks[0]; !hidden.hidden || hidden.text != "kubectl get pods\n" || hidden.first != 8 || hidden.last != 10 {
		t.Errorf("hidden: %+v", hidden)
	}
	if shown := p.blocks[1]; shown.text != "false\nexit 3\n" || shown.attributes["exit"] != "3" || shown.first != 14 || shown.last != 17 {
		t.Errorf("shown: %+v", shown)
	}
	if want := []string{"a-page-code-1", "twice", "twice-1"}; !slices.Equal(p.anchors(), want) {
		t.Errorf("anchors: %v", p.anchors())
	}
	if want := []span{{19, "b.md#c"}, {19, "https://example.com"}}; !slices.Equal(p.links, want) {
		t.Errorf("links: %v", p.links)
	}
}

func TestFaults(t *testing.T) {
	schemas := compileSchemas(t)
	for name, content := range map[string]string{
		"no info string":            "```\nmake\n```\n",
		"an unknown language":       "```bash\nmake\n```\n",
		"a skip without a reason":   "```sh skip\nmake\n```\n",
		"an empty reason":           "```sh skip=\" \"\nmake\n```\n",
		"an unknown attribute":      "```sh when=\"later\"\nmake\n```\n",
		"an indented block":         "text\n\n    make\n",
		"an unknown directive":      "<!-- docs-test: parallel -->\n",
		"broken YAML":               "```yaml\n# file: a.yaml\na: [b\n```\n",
		"a key twice":               "```yaml\n# file: a.yaml\na: 1\na: 2\n```\n",
		"a part of what?":           "```yaml\nspec: {}\n```\n",
		"a field we do not have":    "```yaml\n# part of an MCPServerAudit\nspec: {servers: []}\n```\n",
		"a kind we do not have":     "```yaml\napiVersion: mcpaudit.dev/v1alpha1\nkind: MCPAudit\nmetadata: {name: a}\n```\n",
		"what the schema refuses":   "```yaml\napiVersion: mcpaudit.dev/v1alpha1\nkind: MCPServerAudit\nmetadata: {name: a}\nspec: {server: {image: a}, failOn: Severe}\n```\n",
		"what the schema misses":    "```yaml\napiVersion: mcpaudit.dev/v1alpha1\nkind: MCPServerAudit\nmetadata: {name: a}\n```\n",
		"a key of no configuration": "```yaml\n# config.yaml\nslot: {total: 3}\n```\n",
		"a value of no chart":       "```yaml\n# values.yaml\ncrd: {install: false}\n```\n",
		"broken JSON":               "```json\n{\"a\": }\n```\n",
	} {
		p := parse("page.md", []byte(content))
		for _, b := range p.blocks {
			if checkBlock(schemas, b) != nil {
				p.fault(b.first, "")
			}
		}
		if len(p.faults) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

func TestFollow(t *testing.T) {
	all := map[string]*page{
		"docs/a.md":   parse("docs/a.md", []byte("# One\n")),
		"docs/README": parse("docs/README", nil),
	}
	for link, fine := range map[string]bool{
		"#one": true, "#two": false, "../README.md": true, "../../README.md": false, "b.md": false, "/docs/gate.md": false,
		"https://example.com/a#b": true, "https://": false, "javascript:alert(1)": false, "../Makefile#L1": false, "gate.md": true,
	} {
		if fault := follow(all, all["docs/a.md"], link, map[string]bool{}); (fault == "") != fine {
			t.Errorf("%s: %q", link, fault)
		}
	}
}

func TestUnknownFlags(t *testing.T) {
	help := "  -o, --output string   how\n  -n, --namespace string\n"
	for line, want := range map[string]string{
		"-o json --namespace=a": "", "--outptu json": "--outptu", "-x": "-x", "notes -- node --flag": "", "notes # -x": "",
	} {
		if got := strings.Join(unknownFlags(help, strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
