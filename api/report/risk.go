package report

import "slices"

// RiskLevel is the risk in a word.
// +kubebuilder:validation:MaxLength=64
type RiskLevel string

// The levels; docs/risk.md has the scores that they stand for.
const (
	RiskNone     RiskLevel = "None"
	RiskLow      RiskLevel = "Low"
	RiskMedium   RiskLevel = "Medium"
	RiskHigh     RiskLevel = "High"
	RiskCritical RiskLevel = "Critical"
)

// RiskLevelOf is a score of 0 to 100 in a word.
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

// AtMost reports whether a level is no higher than another. One that is missing, or that
// this version does not know, is higher than all of them.
func (l RiskLevel) AtMost(maximum RiskLevel) bool {
	is, most := slices.Index(RiskLevels, l), slices.Index(RiskLevels, maximum)
	return is >= 0 && is <= most
}

// Risk is how bad it could be, made of what was found, for people who have to
// decide what to look at first. No verdict depends on it.
type Risk struct {
	// score is 0 (nothing was found) to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:Format=int32
	Score int `json:"score"`
	// level is None, Low, Medium, High or Critical.
	// +optional
	Level RiskLevel `json:"level,omitempty"`
	// parts make up the score, the largest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Parts []RiskPart `json:"parts,omitempty" cap:"24"`
}

// RiskPart says what one family of capabilities adds to the score.
type RiskPart struct {
	// family is a word of docs/risk.md: "CommandExecution", "FileRead", ...
	// +kubebuilder:validation:MaxLength=64
	Family string `json:"family"`
	// points of the score.
	// +kubebuilder:validation:Format=int32
	Points int `json:"points"`
	// because says what was seen.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Because string `json:"because,omitempty" cap:"256"`
}
