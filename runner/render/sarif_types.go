package render

import "time"

// The objects of SARIF 2.1.0 (OASIS Standard, with Errata 01) that are written, each
// with the section that it is specified in.

type sarifLog struct { // 3.13
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct { // 3.14
	Tool              sarifTool         `json:"tool"`
	Invocations       []sarifInvocation `json:"invocations"`
	AutomationDetails sarifAutomation   `json:"automationDetails"`
	ColumnKind        string            `json:"columnKind"`
	Results           []sarifResult     `json:"results"`
	Properties        sarifAudit        `json:"properties"`
}

type sarifAutomation struct { // 3.17
	ID string `json:"id"`
}

type sarifTool struct { // 3.18
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct { // 3.19
	Name            string            `json:"name"`
	Version         string            `json:"version"`
	SemanticVersion string            `json:"semanticVersion,omitempty"`
	InformationURI  string            `json:"informationUri"`
	Rules           []sarifRule       `json:"rules"`
	Notifications   []sarifDescriptor `json:"notifications,omitempty"`
}

type sarifDescriptor struct { // 3.49, of a notification
	ID               string    `json:"id"`
	ShortDescription sarifText `json:"shortDescription"`
	FullDescription  sarifText `json:"fullDescription"`
	Help             sarifText `json:"help"`
}

type sarifRule struct { // 3.49
	ID                   string             `json:"id"`
	Name                 string             `json:"name"`
	ShortDescription     sarifText          `json:"shortDescription"`
	FullDescription      sarifText          `json:"fullDescription"`
	Help                 sarifText          `json:"help"`
	HelpURI              string             `json:"helpUri,omitempty"`
	DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	Properties           sarifRuleBag       `json:"properties"`
}

type sarifConfiguration struct { // 3.50
	Level string `json:"level"`
}

// sarifRuleBag are the properties of a rule that GitHub code scanning reads.
type sarifRuleBag struct {
	Tags []string `json:"tags"`
	// Precision is very-high, high, medium or low.
	Precision string `json:"precision"`
	// SecuritySeverity is more than 0.0, at most 10.0; "" for what is no risk.
	SecuritySeverity string `json:"security-severity,omitempty"`
	ProblemSeverity  string `json:"problem.severity,omitempty"`
}

type sarifText struct { // 3.11 and 3.12
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct { // 3.20
	ExecutionSuccessful        bool                `json:"executionSuccessful"`
	StartTime                  *time.Time          `json:"startTimeUtc,omitempty"`
	EndTime                    *time.Time          `json:"endTimeUtc,omitempty"`
	ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct { // 3.58
	Descriptor sarifReference `json:"descriptor"`
	Level      string         `json:"level"`
	Message    sarifText      `json:"message"`
}

type sarifReference struct { // 3.52
	ID    string `json:"id"`
	Index int    `json:"index"`
}

type sarifResult struct { // 3.27
	RuleID              string             `json:"ruleId"`
	RuleIndex           int                `json:"ruleIndex"`
	Level               string             `json:"level"`
	Message             sarifText          `json:"message"`
	Locations           []sarifLocation    `json:"locations"`
	PartialFingerprints map[string]string  `json:"partialFingerprints"`
	CodeFlows           []sarifCodeFlow    `json:"codeFlows,omitempty"`
	Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	Properties          *sarifFinding      `json:"properties,omitempty"`
}

type sarifLocation struct { // 3.28
	PhysicalLocation sarifPhysical  `json:"physicalLocation"`
	LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	Message          *sarifText     `json:"message,omitempty"`
}

type sarifPhysical struct { // 3.29
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           sarifRegion   `json:"region"`
}

type sarifArtifact struct { // 3.4
	URI string `json:"uri"`
}

type sarifRegion struct { // 3.30
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

type sarifLogical struct { // 3.33
	Name               string `json:"name"`
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

type sarifSuppression struct { // 3.35
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifCodeFlow struct { // 3.36
	ThreadFlows []sarifThreadFlow `json:"threadFlows"`
}

type sarifThreadFlow struct { // 3.37
	Locations []sarifFlowLocation `json:"locations"`
}

type sarifFlowLocation struct { // 3.38
	Location      sarifLocation `json:"location"`
	ExecutionTime *time.Time    `json:"executionTimeUtc,omitempty"`
}

// sarifFinding are our own properties of a result.
type sarifFinding struct {
	Severity     string `json:"severity"`
	Phase        string `json:"phase,omitempty"`
	ExceedsScope bool   `json:"exceedsScope,omitempty"`
	Mitigation   string `json:"mitigation,omitempty"`
}
