package rules

import "github.com/mcpaudit/mcpaudit/runner/words"

// lexicon holds the names of hosts and topics that rules know.
var lexicon = words.Read[struct {
	TelemetryHosts, TelemetryTopics, BrowserHosts, CloudTopics, AccountTopics []string
	GenericWords                                                              words.Set
	GivingWords                                                               []string
	ProgramPurposes                                                           []struct {
		Programs words.Set
		Topics   []string
	}
	OrdinaryPrograms, ScriptPrograms words.Set
}]("rules")
