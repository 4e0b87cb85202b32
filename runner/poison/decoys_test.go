package poison

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// A server that reads the files of the audit returns what is in them: neither the
// planted secrets nor the files to work on are found in outputs.
func TestDecoysAreHarmless(t *testing.T) {
	set, err := decoy.New("/home/audit", true)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range set.Files {
		texts[f.Path] = string(f.Content)
	}
	for _, f := range inputs.Files() {
		texts[f.Path] = string(f.Content)
	}
	for name, text := range texts {
		text = strings.ToValidUTF8(text, "\ufffd") // as JSON has it
		if found := Inject(text); len(found) > 0 {
			t.Errorf("%s instructs: %+v", name, found)
		}
		if found := hideAll(text, Answered); len(found) > 0 {
			t.Errorf("%s hides: %+v", name, found)
		}
	}
}
