package inputs

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// samples are texts by the words for their languages and notations in the name of
// a parameter, or of its tool if the parameter has a generic name.
var samples = []hint{
	{[]string{"cron", "crontab"}, "0 9 * * 1"},
	{[]string{"jwt"}, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub3RlcyJ9.bm9uZQ"},
	{[]string{"mermaid", "mmd"}, "flowchart LR\n  A[milk] --> B[bread]\n"},
	{[]string{"plantuml", "puml"}, "@startuml\nMilk -> Bread\n@enduml\n"},
	{[]string{"graphviz", "dot"}, "digraph { milk -> bread }"},
	{[]string{"sql", "sqlite", "select"}, "SELECT 1"},
	{[]string{"json", "json5", "jsonpath"}, `{"note": "milk"}`},
	{[]string{"geojson"}, `{"type": "Point", "coordinates": [0.1, 51.5]}`},
	{[]string{"yaml", "yml"}, "note: milk\n"},
	{[]string{"toml"}, "note = \"milk\"\n"},
	{[]string{"xml"}, "<note>milk</note>"},
	{[]string{"svg"}, drawn},
	{[]string{"html"}, "<p>milk and bread</p>"},
	{[]string{"csv"}, "id,name\n1,milk\n2,bread\n"},
	{[]string{"graphql"}, "{ notes { id } }"},
	{[]string{"diff", "patch"}, "--- a/note.txt\n+++ b/note.txt\n@@ -1 +1 @@\n-milk\n+bread\n"},
	{[]string{"latex", "tex"}, "x^2 + 1"},
	{[]string{"base64", "b64"}, "bm90ZQ=="},
	{[]string{"hex", "hexadecimal"}, "6e6f7465"},
	{[]string{"semver"}, "1.0.0"},
	{[]string{"mime", "mimetype"}, "text/plain"},
	{[]string{"ticker", "tickers", "stock", "stocks"}, "AAPL"},
	manifest,
}

// manifest is YAML that a cluster can apply.
var manifest = hint{[]string{"kubernetes", "kubectl", "k8s"}, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\ndata:\n  note: milk\n"}

// ofCluster matches descriptions of such a text.
var ofCluster = lazyregexp.New(`(?i)\b(?:yaml|json)\b[^.]{0,60}\b(?:kubernetes|k8s)\b|\bapiVersion\b[^.]{0,16}\bkind\b[^.]{0,16}\bmetadata\b`)

// graphQL matches texts about that query language.
var graphQL = lazyregexp.New(`(?i)graphql\b`)

// cypherWords mark tools that take a query in Cypher, and writing those that change data.
var (
	cypherWords = []string{"cypher", "neo4j", "memgraph"}
	writing     = []string{"write", "create", "update", "merge", "execute"}
)

// cypher returns a query for a tool that takes Cypher: one that writes, if the tool does, for it refuses any other.
func (f *Form) cypher(names, described []string) (string, bool) {
	switch {
	case !has(names, []string{"query", "statement", "cypher"}) || !has(slices.Concat(names, described, f.about), cypherWords):
		return "", false
	case has(f.about, writing):
		return "CREATE (n:Note {name: 'milk'}) RETURN n", true
	}
	return "MATCH (n) RETURN n LIMIT 1", true
}

// sqlWords mark places for a statement in SQL, and storing those that change data.
var (
	sqlWords = []string{"sql", "select", "insert"}
	storing  = []string{"write", "insert", "update", "modify"}
)

// sql returns a statement for a place that takes SQL: one that makes a table or stores a row, if the tool is there for that,
// for it refuses any other.
func (f *Form) sql(names, described []string) (string, bool) {
	does := slices.Concat(names, described, f.about)
	switch {
	case !has(names, []string{"query", "statement", "sql"}) || !has(does, sqlWords):
		return "", false
	case has(does, []string{"create"}) && has(does, []string{"table"}):
		return "CREATE TABLE IF NOT EXISTS notes (id INTEGER, name TEXT)", true
	case has(does, storing):
		return "INSERT INTO notes (id, name) VALUES (1, 'milk')", true
	}
	return "SELECT 1", true
}

// generic are names of parameters for any text.
var generic = words("input text value data content contents source src code definition diagram spec string expression expr body raw document manifest " +
	"markup syntax graph token schedule statement schema patch symbol symbols")

// inBase64 matches descriptions of encoded values.
var inBase64 = lazyregexp.New(`(?i)\b(?:(?:in|as) base-?64|base-?64[- ]encoded|base-?64 of)\b`)

// sample returns a text in the notation that a place asks for.
func (f *Form) sample(n *node) (string, bool) {
	names := split(n.name)
	free := len(names) > 0 && generic[names[len(names)-1]]
	if encoded, ok := f.inBase64(n, names, free); ok {
		return encoded, true
	}
	described := nouns(said(n))
	if statement, ok := f.sql(names, described); ok {
		return statement, true
	}
	if value, ok := valueFor(names, samples); ok {
		return value, true
	}
	if has(names, []string{"query", "mutation"}) && graphQL.MatchString(strings.Join([]string{f.options.About, f.options.Said, said(n)}, " ")) {
		return valueFor([]string{"graphql"}, samples)
	}
	if query, ok := f.cypher(names, described); ok {
		return query, true
	}
	if n.kind == "string" && ofCluster.MatchString(said(n)) {
		return manifest.value, true
	}
	if !free {
		return "", false
	}
	if has(names, []string{"manifest", "manifests"}) && has(slices.Concat(described, f.about), manifest.words) {
		return manifest.value, true
	}
	if value, ok := valueFor(described, samples); ok {
		return value, true
	}
	return valueFor(f.about, samples)
}

// inBase64 returns the content for a place that takes base64 by its name, its description or, with free, that of its tool.
func (f *Form) inBase64(n *node, names []string, free bool) (string, bool) {
	if !has(names, baseWords) && !inBase64.MatchString(said(n)) && !(free && has(f.about, baseWords)) {
		return "", false
	}
	content, ok := f.content(n)
	return base64.StdEncoding.EncodeToString(content), ok
}

// baseWords mark places for a value in base64, pictures those for a picture.
var baseWords, pictures = []string{"base64", "b64"}, []string{"image", "images", "picture", "pictures", "photo", "photos", "screenshot"}

// content returns a planted file in the format that a place, or the name of its tool, asks for.
func (f *Form) content(n *node) ([]byte, bool) {
	for _, ending := range f.endingsOf(n) {
		if found := Document(ending); found != nil {
			return found, true
		}
	}
	if has(f.about, pictures) {
		return Document("png"), true
	}
	return nil, false
}

// gitWords are names of parameters for a revision of git.
var gitWords = []string{"object", "onto", "upstream", "commit", "commits", "target", "source", "base", "ref", "refs", "revision", "start", "treeish", "from", "to"}

// revision returns a branch of the repository, for a tool of git.
func (f *Form) revision(n *node) (string, bool) {
	if !slices.Contains(f.about, "git") || f.isPath(n) || !has(split(n.name), gitWords) {
		return "", false
	}
	return otherBranch, true
}
