package probe

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

func TestHurried(t *testing.T) {
	schema := manifest.Object(json.RawMessage(`{"properties":{"duration":{"type":"number","default":10},"waitSeconds":{"minimum":3},
		"delay_ms":{"exclusiveMinimum":4},"steps":{"type":"number"},"time":{"type":"string"}}}`))
	for arguments, want := range map[string]string{
		`{"duration":10,"steps":5}`:                   `{"duration":1,"steps":5}`,
		`{"duration":0.5,"waitSeconds":9}`:            `{"duration":0.5,"waitSeconds":3}`,
		`{"delay_ms":100,"time":"noon","timeout":60}`: `{"delay_ms":5,"time":"noon","timeout":1}`,
		`[1]`: `[1]`, `null`: `null`, `{`: `{`,
	} {
		if got := string(hurried(schema, json.RawMessage(arguments))); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}
