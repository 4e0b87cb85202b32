package attack

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// attempts are those of one target whose values are like a pattern, by their arguments.
func attempts(seen Seen, closed bool, schema, honest, said string, like string) (found []string) {
	p := Plan{Closed: closed, Seen: map[report.Capability]Seen{tool: seen}}
	s := p.Against(Target{Of: tool, Schema: json.RawMessage(schema), Honest: json.RawMessage(honest), Said: said})
	pattern := regexp.MustCompile(like)
	for call := 1; ; call++ {
		a, more := s.Next(inputs.Mark{Call: call})
		if !more {
			return found
		}
		if pattern.MatchString(string(a.Family) + " " + string(a.Arguments)) {
			found = append(found, string(a.Arguments))
		}
	}
}

// TestForms: each family has attempts that keep what a guard looks at, at places of each kind.
func TestForms(t *testing.T) {
	programs, database := Seen{Programs: true}, Seen{Database: true}
	const list = `{"properties":{"words":{"type":"array","items":{"type":"string"},"description":"Words, for example [\"-type\", \"f\"]"}}}`
	const env = `{"properties":{"task":{"enum":["a"]},"env":{"type":"object","additionalProperties":{"type":"string"}}}}`
	const sort = `{"properties":{"sort":{"type":"string","description":"Column such as title"},"page":{"type":"integer"}}}`
	const cells = `{"properties":{"formula":{"type":"string"},"cells":{"type":"object"}}}`
	const port = `{"properties":{"port":{"type":"integer"},"region":{"type":"string"},"name":{"type":"string","description":"Name of the host"}}}`
	for name, tc := range map[string]struct {
		seen                         Seen
		schema, honest, like, unlike string
	}{
		"the next element":              {programs, list, `{"words":["x"]}`, `^Option {"words":\["x","--marlow-c\d+"\]}`, ""},
		"behind described elements":     {programs, list, `{}`, `^Option {"words":\["-type","f","--marlow-c\d+"\]}`, ""},
		"behind the rest of an example": {programs, list, `{"words":["-type"]}`, `^Option {"words":\["-type","f","--marlow-c\d+"\]}`, `\["-type","--marlow`},
		"a redirection":                 {programs, sort, `{"sort":"a.txt"}`, `^Command {"sort":"a.txt</var/tmp/marlow-elsewhere/marlow-run-c\d+"}`, ""},
		"a variable":                    {programs, env, `{"task":"a"}`, `^Command {"env":{"BASH_ENV":"\$\(./marlow-run-c\d+\)"},"task":"a"}`, ""},
		"a variable beside others":      {programs, env, `{"task":"a","env":{"X":"y"}}`, `^Command {"env":{"LD_PRELOAD":"/var/tmp/[^"]*","X":"y"},"task":"a"}`, ""},
		"no variable for a command":     {programs, env, `{"command":"a"}`, "", `BASH_ENV`},
		"a column and another":          {database, sort, `{}`, `^Query {"sort":"title , marlow-c\d+"}`, ""},
		"a key and a column":            {Seen{}, cells, `{"cells":{"name":"Lamp"}}`, `^Query {"cells":{"marlow-c\d+":"Lamp","name":"Lamp"}}`, ""},
		"a key where there is none":     {Seen{}, cells, `{"cells":{}}`, `^Query {"cells":{"marlow-c\d+":""}}`, ""},
		"a number and a row":            {database, sort, `{"page":3}`, `^Query {"page":"3 UNION SELECT char\(`, ""},
		"an expression of SQL":          {database, `{"properties":{"where":{"type":"string"}}}`, `{"where":"x = 1"}`, "", ` , marlow-c`},
		"a key of code":                 {Seen{}, cells, `{"formula":"a","cells":{}}`, `^Code {"cells":{"marlow":"import\(`, ""},
		"what a filter evaluates":       {Seen{}, cells, `{"cells":{"name":"Lamp"}}`, `^Code {"cells":{"\$where":"`, ""},
		"an option of a view":           {Seen{}, cells, `{"cells":{"name":"Lamp"}}`, `^Code {"cells":{"name":"Lamp","settings":{"view options":{"outputFunctionName":"x=1;`, ""},
		"a template of Python":          {Seen{}, `{"properties":{"template":{"type":"string"}}}`, `{"template":"Hi"}`, `^Code {"template":"\{\{ \[c for c in`, ""},
		"in Base64":                     {Seen{}, `{"properties":{"token":{"type":"string"}}}`, `{"token":"Hi"}`, `^Code {"token":"eyJ4IjoiXyQkTkRfRlVOQyQk`, ""},
		"an operator of MongoDB":        {Seen{Network: true, Ports: []int{27017}}, `{"properties":{"user":{"type":"string"}}}`, `{"user":"ada"}`, `^Query {"user":{"\$ne":"marlow-c\d+"}}`, ""},
		"a filter of its own":           {Seen{Network: true, Ports: []int{27017}}, `{"properties":{"user":{"type":"string"}}}`, `{"user":"{\"name\":\"ada\"}"}`, "", `^Query .*{"\$ne"`},
		"a text or an object":           {Seen{Network: true, Ports: []int{27017}}, `{"properties":{"user":{"anyOf":[{"type":"string"},{"type":"object"},{"type":"null"}]}}}`, `{"user":"ada"}`, "", `^Query .*{"\$ne"`},
		"no operator of SQL":            {database, `{"properties":{"user":{"type":"string"}}}`, `{"user":"ada"}`, "", `^Query .*{"\$ne"`},
		"a path with a directory":       {Seen{Files: []string{"/srv/site/public/a.html"}}, `{"properties":{"asset":{"type":"string"}}}`, `{"asset":"public/a.html"}`, `^Path {"asset":"public/\.\./\.\./`, ""},
		"a number that names a file":    {Seen{Files: []string{"/b/7.txt"}}, sort, `{"page":7}`, `^Path {"page":"\.\./`, ""},
		"a number that names nothing":   {Seen{Files: []string{"/b/17.txt"}}, sort, `{"page":7}`, "", `^Path`},
		"a part of a host":              {Seen{Network: true, Hosts: []string{"eu.api.example.com"}}, port, `{"region":"eu"}`, `^Egress {"region":"c\d+\.pages\.example\.net/#"}`, ""},
		"a port":                        {Seen{Network: true, Ports: []int{8080}}, port, `{"port":8080}`, `^Egress {"port":"8080@c\d+\.pages\.example\.net/"}`, ""},
		"all of a host":                 {Seen{Network: true, Hosts: []string{"eu.api.example.com"}}, port, `{"name":"eu"}`, "", `Egress .*/#`},
		"behind a part of a label":      {Seen{Network: true, Hosts: []string{"api-eu.example.com"}}, port, `{"region":"eu"}`, `^Egress {"region":"eu\.c\d+\.pages\.example\.net/"}`, ""},
		"the end of a host":             {Seen{Network: true, Hosts: []string{"api.eu"}}, port, `{"region":"eu"}`, "", `Egress .*/#`},
		"an archive":                    {Seen{}, `{"properties":{"bundle":{"type":"string","description":"ZIP file in Base64"}}}`, `{"bundle":"UEsDBAoA"}`, `^Path {"bundle":"UEsDBBQ`, ""},
		"a number in a request":         {Seen{Network: true}, `{"properties":{"latitude":{"type":"number"}}}`, `{"latitude":1}`, "", `^Request`}, // SDKs hold arguments to their types
		"an archive that lies there":    {Seen{Files: []string{"/srv/a.zip"}}, `{"properties":{"archive":{"type":"string","description":"Path of the ZIP file"}}}`, `{"archive":"a.zip"}`, `^Path {"archive":"marlow-elsewhere-archive-1.zip"}`, ""},
		"what was touched":              {Seen{Files: []string{"/x/a"}}, `{"properties":{"source":{"type":"string"}}}`, `{"source":"/x/a"}`, `^Path {"source":"/var/tmp/`, ""},
		"what was not touched":          {Seen{Files: []string{"/x/b"}}, `{"properties":{"source":{"type":"string"}}}`, `{"source":"/x/a"}`, "", `^Path`},
		"one that lies elsewhere":       {Seen{}, `{"properties":{"archive_path":{"type":"string"}}}`, `{"archive_path":"/x/a.tgz"}`, `^Path {"archive_path":"/var/tmp/marlow-elsewhere/marlow-elsewhere-archive-3.tar.gz"}`, ""},
		"no archive":                    {Seen{}, `{"properties":{"path":{"type":"string"}}}`, `{"path":"/x/a.txt"}`, "", `-archive-`},
		"the path of an archive":        {Seen{}, `{"properties":{"archive":{"type":"string","description":"Path of the ZIP file"}}}`, `{"archive":"a.zip"}`, "", `UEsDB`},
		"a host of its own":             {Seen{Network: true, Hosts: []string{"eu"}}, port, `{"region":"eu"}`, "", `Egress .*/#`},
	} {
		if tc.like != "" && len(attempts(tc.seen, true, tc.schema, tc.honest, "", tc.like)) == 0 {
			t.Errorf("%s: no attempt is like %s", name, tc.like)
		}
		if tc.unlike != "" && len(attempts(tc.seen, true, tc.schema, tc.honest, "", tc.unlike)) > 0 {
			t.Errorf("%s: an attempt is like %s", name, tc.unlike)
		}
	}
}

// TestNextIsLittle: the element behind others costs no more than a few attempts.
func TestNextIsLittle(t *testing.T) {
	next := attempts(Seen{Programs: true, Files: []string{"/srv/a.txt"}}, true, "", `{"paths":["a.txt"]}`, "", `"a\.txt",`)
	if len(next) == 0 || len(next) > 20 {
		t.Errorf("%d attempts: %s", len(next), strings.Join(next, "\n"))
	}
	if slices.ContainsFunc(next, func(a string) bool { return strings.Contains(a, "OR marlow") }) {
		t.Error("statements are tried there")
	}
}

// TestParse: what SQL can read and what it cannot have the same words and brackets, so that nobody but SQL
// tells them apart.
func TestParse(t *testing.T) {
	words := func(f form) string {
		all := strings.Fields(strings.NewReplacer("(", " ", ")", " ", ",", " ").Replace(f.write(field{value: "x", text: true}, inputs.Mark{Call: 1}, 0)))
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	for _, forms := range [][]form{rawForms, numberForms} {
		sorts := map[string][]Parse{}
		for _, f := range forms {
			if f.parse != "" {
				sorts[words(f)] = append(sorts[words(f)], f.parse)
			}
		}
		if len(sorts) != 2 {
			t.Errorf("%d pairs: %v", len(sorts), sorts)
		}
		for pair, sort := range sorts {
			if !slices.Equal(sort, []Parse{ParseValid, ParseBroken}) {
				t.Errorf("%s: %v", pair, sort)
			}
		}
	}
}
