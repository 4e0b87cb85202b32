package rules

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// finders holds what decides each rule of the catalogue. MCPA-MANIFEST-001,
// MCPA-BEHAVIOR-001 and MCPA-EXPOSURE-001 are found by report.Compare, where the baseline is.
var finders = map[string]func(Input) []draft{
	idUndeclaredEgress:    together(findContacts(idUndeclaredEgress), findPassedOn),
	idMetadataService:     findContacts(idMetadataService),
	idOtherHost:           findContacts(idOtherHost),
	idStartupEgress:       findContacts(idStartupEgress),
	idIdleEgress:          findContacts(idIdleEgress),
	idUndeclaredTelemetry: findContacts(idUndeclaredTelemetry),
	idOwnResolver:         findContacts(idOwnResolver),
	"MCPA-EGRESS-008":     findBrokenGuards,
	"MCPA-EGRESS-009":     findRecipients,
	"MCPA-EGRESS-010":     findChangedRequests,
	"MCPA-FILE-001":       findSensitiveFiles,
	"MCPA-FILE-002":       findWrites,
	"MCPA-FILE-003":       findTraversals,
	"MCPA-FILE-004":       findEnumeration,
	"MCPA-FILE-005":       findReads,
	"MCPA-FILE-006":       findProbing,
	"MCPA-FILE-007":       findPersonal,
	"MCPA-EXEC-001":       findSubprocesses,
	"MCPA-EXEC-002":       findInjections,
	"MCPA-EXEC-003":       findDetached,
	"MCPA-EXEC-004":       findEvaluated,
	"MCPA-EXEC-005":       findOptions,
	"MCPA-EXEC-006":       findPolluted,
	"MCPA-QUERY-001":      findLeftStrings,
	"MCPA-QUERY-002":      findWritesPastGuards,
	"MCPA-SECRET-001":     findDecoyReads,
	"MCPA-SECRET-002":     leaksAs(carriedOff),
	"MCPA-SECRET-003":     leaksAs(answered),
	"MCPA-SECRET-004":     leaksAs(dumped),
	"MCPA-SECRET-005":     findCarried,
	"MCPA-SECRET-006":     findDependences,
	"MCPA-PERSIST-001":    findPersistence,
	"MCPA-HINT-001":       findChanges,
	"MCPA-HINT-002":       findDestruction,
	"MCPA-HINT-003":       findRepetition,
	"MCPA-HINT-004":       findReach,
	"MCPA-MANIFEST-002":   drifted(report.MomentSession),
	"MCPA-MANIFEST-003":   drifted(report.MomentRestart),
	"MCPA-MANIFEST-004":   drifted(report.MomentIdentity),
	"MCPA-MANIFEST-005":   drifted(report.MomentClock),
	"MCPA-MANIFEST-006":   findUnlisted,
	"MCPA-POISON-001":     directed(poison.Authority, report.SeverityHigh),
	"MCPA-POISON-002":     directed(poison.ToolSequence, report.SeverityHigh),
	"MCPA-POISON-003":     directed(poison.ParameterOverride, report.SeverityHigh),
	"MCPA-POISON-004":     directed(poison.Shadowing, report.SeverityMedium),
	"MCPA-POISON-005":     directed(poison.Concealment, report.SeverityHigh),
	"MCPA-POISON-006":     directed(poison.SensitiveData, report.SeverityHigh),
	"MCPA-POISON-007":     directed(poison.Redirection, report.SeverityHigh),
	"MCPA-POISON-008":     graded(poison.ContextRequest, whenSure),
	"MCPA-POISON-009":     directed(poison.Endless, report.SeverityMedium),
	"MCPA-POISON-010":     findHidden(poison.WayUnicode),
	"MCPA-POISON-011":     findHidden(poison.WayTerminal),
	"MCPA-POISON-012":     findHidden(poison.WayEncoded),
	"MCPA-POISON-013":     findHidden(poison.WayMarkup),
	"MCPA-OUTPUT-001":     findInjected,
	"MCPA-OUTPUT-002":     findUnseen(poison.WayUnicode),
	"MCPA-OUTPUT-003":     findUnseen(poison.WayTerminal),
	"MCPA-OUTPUT-004":     findUnseen(poison.WayEncoded),
	"MCPA-OUTPUT-005":     findImitated,
	"MCPA-OUTPUT-006":     findAsking,
	"MCPA-OUTPUT-007":     findLinked,
	"MCPA-SQUAT-001":      findSquattedServer,
	"MCPA-SQUAT-002":      findSquattedPackage,
	"MCPA-SQUAT-003":      findDisguisedTools,
	"MCPA-PROTOCOL-001":   findPollution,
	"MCPA-PROTOCOL-002":   findBreaches(breach.CursorTwice, breach.LongList),
	"MCPA-PROTOCOL-003":   findBreaches(breach.Oversized),
	"MCPA-PROTOCOL-004":   findBreaches(breach.Malformed, breach.Nameless),
	"MCPA-PROTOCOL-005":   findBreaches(breach.Twice, breach.Unasked),
	"MCPA-PROTOCOL-006":   findBreaches(breach.SameName, breach.SameTool),
	"MCPA-PROTOCOL-007":   findBreaches(breach.Flood, breach.Unread),
	"MCPA-EVADE-001":      findEvasion,
	"MCPA-SOCKET-001":     findControlSockets,
	"MCPA-LISTEN-001":     findListeners,
	"MCPA-LISTEN-002":     findForeign,
	"MCPA-LISTEN-003":     findSessions,
	"MCPA-LISTEN-004":     findEnding,
	"MCPA-LISTEN-005":     findEvaded,
	"MCPA-PRIV-001":       findElevations,
	"MCPA-SCOPE-001":      findUnused,
}

// together finds what several functions find.
func together(finders ...func(Input) []draft) func(Input) []draft {
	return func(in Input) (all []draft) {
		for _, find := range finders {
			all = append(all, find(in)...)
		}
		return all
	}
}
