package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// engine is the version of the deciding code. Raise it with every change of findings in the
// same audit: operators audit again, and TestDecisions asks for it. Leave it for changes
// of comments, messages and names.
const engine = 43

// Digest identifies the rules: "sha256:" and 64 hex digits over the engine's version, the
// word lists, and the parts of rules that findings contain. Programs with the same digest
// find the same in the same audit.
var Digest = sync.OnceValue(func() string { return digest(engine, All(), loaded().risks, words.All()) })

func digest(version int, all []Rule, risks map[string]float64, words map[string]string) string {
	type decided struct {
		ID, Title, Mitigation, Risk string
		Severity                    report.Severity
	}
	var data struct {
		Engine int
		Rules  []decided
		Risks  map[string]float64
		Words  map[string]string
	}
	data.Engine, data.Risks, data.Words = version, risks, words
	for _, r := range all {
		data.Rules = append(data.Rules, decided{r.ID, r.Title, r.Mitigation, r.Risk, r.Severity})
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // strings and finite numbers
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
