package report

import "slices"

// RiskLevel is the risk in one word.
// +kubebuilder:validation:MaxLength=64
type RiskLevel string

// The levels. docs/risk.md has their scores.
const (
	RiskNone     RiskLevel = "None"
	RiskLow      RiskLevel = "Low"
	RiskMedium   RiskLevel = "Medium"
	RiskHigh     RiskLevel = "High"
	RiskCritical RiskLevel = "Critical"
)

// RiskLevelOf returns the level of a score of 0 to 100.
func RiskLevelOf(score int) RiskLevel {
	switch {
	case score >= 70:
		return RiskCritical
	case score >= 40:
		return RiskHigh
	case score >= 20:
		return RiskMedium
	case score > 0:
		return RiskLow
	}
	return RiskNone
}

// RiskLevels lists all levels, the lowest first.
var RiskLevels = []RiskLevel{RiskNone, RiskLow, RiskMedium, RiskHigh, RiskCritical}

// AtMost reports whether l is at or below the maximum. An empty or unknown level is above all
// others.
func (l RiskLevel) AtMost(maximum RiskLevel) bool {
	is, most := slices.Index(RiskLevels, l), slices.Index(RiskLevels, maximum)
	return is >= 0 && is <= most
}

// Risk sums up how bad the findings could be, to help people decide what to look at first. It
// does not affect the verdict.
type Risk struct {
	// score is 0 (no findings) to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:Format=int32
	Score int `json:"score"`
	// level is None, Low, Medium, High or Critical.
	// +optional
	Level RiskLevel `json:"level,omitempty"`
	// parts of the score, largest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Parts []RiskPart `json:"parts,omitempty" cap:"24"`
}

// RiskPart says what one family of capabilities adds to the score.
type RiskPart struct {
	// family is a word of docs/risk.md, such as "CommandExecution" or "FileRead".
	// +kubebuilder:validation:MaxLength=64
	Family string `json:"family"`
	// points of the score.
	// +kubebuilder:validation:Format=int32
	Points int `json:"points"`
	// because says what was observed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Because string `json:"because,omitempty" cap:"256"`
}
