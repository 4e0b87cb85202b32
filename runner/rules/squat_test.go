package rules

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func called(name string) []Input {
	raw, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return altered(func(in *Input) { in.Manifest.ServerName = raw })
}

func started(command ...string) []Input {
	return altered(func(in *Input) { in.Command = command })
}

func offers(tool string) []Input {
	return altered(func(in *Input) { in.Manifest.Tools = []json.RawMessage{[]byte(`{"name":"` + tool + `"}`)} })
}

var _ = prove(map[string]proof{
	"MCPA-SQUAT-001": {finds: called("twittter-mcp"), spares: called("twitter-mcp")},
	"MCPA-SQUAT-002": {finds: started("npx", "-y", "modelcontextprotocol-server-filesystem"), spares: started("npx", "-y", "@acme/server-filesystem@1.0.0", "/tmp")},
	"MCPA-SQUAT-003": {finds: offers("reаd_file"), spares: offers("файл")},
})

func TestSquatMessages(t *testing.T) {
	for _, tc := range []struct {
		in   []Input
		want string
	}{
		{called("twittter-mcp"), `SQUAT-001 Medium: The server calls itself "twittter-mcp", which looks like twitter-mcp: a letter is doubled.`},
		{started("uvx", "firecrawll-mcp==1.0"), `SQUAT-002 Medium: The command starts the package "firecrawll-mcp", whose name looks like firecrawl-mcp: a letter is doubled.`},
		{offers("reаd_file"), `SQUAT-003 Medium: A tool is called "reаd_file", which looks like "read_file" and has letters of another script.`},
	} {
		if diff := cmp.Diff([]string{tc.want}, lines(Judge(tc.in[0]))); diff != "" {
			t.Error(diff)
		}
	}
}
