package report

// RiskLevel is the risk in a word.
type RiskLevel string

// The levels; docs/risk.md has the scores that they stand for.
const (
	RiskNone     RiskLevel = "None"
	RiskLow      RiskLevel = "Low"
	RiskMedium   RiskLevel = "Medium"
	RiskHigh     RiskLevel = "High"
	RiskCritical RiskLevel = "Critical"
)

// Risk is how bad it could be, made of what was found, for people who have to
// decide what to look at first. No verdict depends on it.
type Risk struct {
	// Score is 0 (nothing was found) to 100.
	Score int       `json:"score"`
	Level RiskLevel `json:"level,omitempty"`
	// Parts make up the score, the largest first.
	Parts []RiskPart `json:"parts,omitempty"`
}

// RiskPart says what one family of capabilities adds to the score.
type RiskPart struct {
	// Family is a word of docs/risk.md: "CommandExecution", "FileRead", ...
	Family string `json:"family"`
	Points int    `json:"points"`
	// Because says in one sentence what was seen.
	Because string `json:"because,omitempty"`
}
