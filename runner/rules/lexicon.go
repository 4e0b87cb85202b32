package rules

import (
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// lexicon holds the names of hosts and topics that rules know.
// It is read when needed: most processes of an audit read no text.
var lexicon = sync.OnceValue(func() vocabulary { return words.Read[vocabulary]("rules") })

type vocabulary struct {
	// TelemetryHosts take reports on how a program is used, or how it failed; who says
	// so uses the TelemetryTopics.
	TelemetryHosts, TelemetryTopics []string
	// InstallerHosts serve the install scripts of well-known programs.
	InstallerHosts []string
	// BrowserHosts are asked by browsers by themselves.
	BrowserHosts                              []string
	CloudTopics, AccountTopics, SettingTopics []string
	// GenericWords name no server.
	GenericWords    words.Set
	GivingWords     []string
	ProgramPurposes []struct {
		Programs words.Set
		Topics   []string
	}
	OrdinaryPrograms, ScriptPrograms words.Set
}
