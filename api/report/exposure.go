package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ExposureKind is something that a capability can enable its caller to do.
// +kubebuilder:validation:MaxLength=64
type ExposureKind string

// The kinds.
const (
	// ExposesCommandExecution: it starts programs.
	ExposesCommandExecution ExposureKind = "CommandExecution"
	// ExposesCodeExecution: it evaluates code, itself or by an interpreter.
	ExposesCodeExecution ExposureKind = "CodeExecution"
	// ExposesFileRead: it reads files, or lists directories.
	ExposesFileRead ExposureKind = "FileRead"
	// ExposesFileWrite: it creates or changes files.
	ExposesFileWrite ExposureKind = "FileWrite"
	// ExposesFileDelete: it removes files.
	ExposesFileDelete ExposureKind = "FileDelete"
	// ExposesNetworkEgress: it connects to hosts.
	ExposesNetworkEgress ExposureKind = "NetworkEgress"
	// ExposesDatabaseQuery: it sends statements to a database, or queries one in a file.
	ExposesDatabaseQuery ExposureKind = "DatabaseQuery"
	// ExposesSecrets: it gives away secrets of its environment or of files.
	ExposesSecrets ExposureKind = "Secrets"
	// ExposesUntrustedContent: its answers contain what others wrote.
	ExposesUntrustedContent ExposureKind = "UntrustedContent"
	// ExposesMessaging: it sends mail, or posts to a chat or a webhook.
	ExposesMessaging ExposureKind = "Messaging"
)

// exposureWeights are the share of the score that each kind has if an argument decides
// everything, see docs/exposure.md.
var exposureWeights = map[ExposureKind]float64{
	ExposesCommandExecution: 0.75, ExposesCodeExecution: 0.75, ExposesSecrets: 0.5, ExposesNetworkEgress: 0.5,
	ExposesFileRead: 0.375, ExposesFileWrite: 0.375, ExposesFileDelete: 0.375, ExposesDatabaseQuery: 0.375, ExposesMessaging: 0.375,
	ExposesUntrustedContent: 0.25,
}

// ExposureKinds lists all kinds, in the order in which they are shown.
var ExposureKinds = []ExposureKind{
	ExposesCommandExecution, ExposesCodeExecution, ExposesSecrets, ExposesNetworkEgress, ExposesFileWrite, ExposesFileDelete,
	ExposesFileRead, ExposesDatabaseQuery, ExposesMessaging, ExposesUntrustedContent,
}

// Reach says how much of what a capability does its caller decides.
// +kubebuilder:validation:MaxLength=64
type Reach string

// The reaches.
const (
	// ReachArbitrary: an argument decides all of it, and no bound was seen.
	ReachArbitrary Reach = "Arbitrary"
	// ReachPartial: an argument decides a part of it, such as a name below a fixed directory.
	// Whether it can escape from there was not tested enough.
	ReachPartial Reach = "Partial"
	// ReachBounded: as Partial, but the bound held when it was attacked.
	ReachBounded Reach = "Bounded"
	// ReachFixed: no argument decides anything, as far as was observed.
	ReachFixed Reach = "Fixed"
)

// Reaches lists all reaches, the furthest first.
var Reaches = []Reach{ReachArbitrary, ReachPartial, ReachBounded, ReachFixed}

// reachShares are the share of its kind's weight that a reach has.
var reachShares = map[Reach]float64{ReachArbitrary: 1, ReachPartial: 0.4, ReachBounded: 0.2, ReachFixed: 0.1}

// AtLeast reports whether r is at least as far as the minimum. An unknown reach is as far as
// any.
func (r Reach) AtLeast(minimum Reach) bool {
	return slices.Index(Reaches, r) <= slices.Index(Reaches, minimum) || !slices.Contains(Reaches, minimum)
}

// ExposureBasis says what an exposure is known from.
// +kubebuilder:validation:MaxLength=64
type ExposureBasis string

// The bases.
const (
	// BasisProven: it was observed.
	BasisProven ExposureBasis = "Proven"
	// BasisDeclared: the manifest says so, but it was not observed.
	BasisDeclared ExposureBasis = "Declared"
)

// declaredShare is the weight of a declaration relative to an observation.
const declaredShare = 0.5

// Exposure says what a server enables its callers to do, declared or not. It describes the
// server and does not affect the verdict.
type Exposure struct {
	// score is 0 (the server enables nothing) to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:Format=int32
	Score int `json:"score"`
	// level is None, Low, Medium, High or Critical, with the thresholds of risk.level.
	// +optional
	Level RiskLevel `json:"level,omitempty"`
	// items: the weightiest of each kind first, then the rest by weight.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Items []ExposureItem `json:"items,omitempty" cap:"256" shrink:"exposures" tally:"Dropped"`
	// combinations are kinds that are worse together.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Combinations []ExposureCombination `json:"combinations,omitempty" cap:"4"`
	// dropped counts the items that the caps left out. The score includes them.
	// +optional
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped,omitempty"`
}

// ExposureItem is one thing that one capability enables.
type ExposureItem struct {
	// capability that enables it.
	Capability Capability `json:"capability"`
	// kind is CommandExecution, CodeExecution, FileRead, FileWrite, FileDelete, NetworkEgress,
	// DatabaseQuery, Secrets, UntrustedContent or Messaging.
	Kind ExposureKind `json:"kind"`
	// reach is Arbitrary (an argument decides everything), Partial (it decides a part, and the
	// bound was not attacked enough), Bounded (the bound held when it was attacked) or Fixed (no
	// argument decides).
	Reach Reach `json:"reach"`
	// argument that decides, by its path, such as "url" or "options.paths[0]"; at most three.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Argument string `json:"argument,omitempty" cap:"256" redact:"secrets"`
	// bound is the part that the argument does not decide, such as "below /data", "git" or
	// "api.example.com".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Bound string `json:"bound,omitempty" cap:"256" redact:"secrets"`
	// basis is Proven (it was observed) or Declared (the manifest says so).
	Basis ExposureBasis `json:"basis"`
	// evidence is the observation, or the sentence that declares it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Evidence []Evidence `json:"evidence,omitempty" cap:"2"`
}

// CombinationName names a combination of exposures.
// +kubebuilder:validation:MaxLength=64
type CombinationName string

// The combinations.
const (
	// CombinationLethalTrifecta: untrusted content, private data and a way out: an author of the
	// content can make the model send the data out.
	CombinationLethalTrifecta CombinationName = "LethalTrifecta"
	// CombinationSecretsAndEgress: secrets, and a connection to any host.
	CombinationSecretsAndEgress CombinationName = "SecretsAndEgress"
)

// ExposureCombination is a set of exposures that is worse than each of them.
type ExposureCombination struct {
	// name is LethalTrifecta or SecretsAndEgress.
	Name CombinationName `json:"name"`
	// because names the capabilities that make the combination.
	// +kubebuilder:validation:MaxLength=512
	Because string `json:"because" cap:"512" redact:"secrets"`
}

// Exposed is a kind of exposure with its furthest reach.
type Exposed struct {
	// kind of exposure.
	Kind ExposureKind `json:"kind"`
	// reach is the furthest of any capability.
	Reach Reach `json:"reach"`
}

// String returns a form such as "CommandExecution (Arbitrary)".
func (e Exposed) String() string { return fmt.Sprintf("%s (%s)", e.Kind, e.Reach) }

// ExposureLine sums up exposure in one line, such as "28 Medium: FileRead (Partial)".
func ExposureLine(score int, level RiskLevel, kinds []Exposed) string {
	var all []string
	for _, kind := range kinds {
		all = append(all, kind.String())
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s: %s", score, level, strings.Join(all, ", ")), ": ")
}

// ExposureOf sums up items. An additional item never lowers the score, and their order does
// not matter.
func ExposureOf(items []ExposureItem) Exposure {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b ExposureItem) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(slices.Index(ExposureKinds, a.Kind), slices.Index(ExposureKinds, b.Kind)),
			strings.Compare(a.Capability.String(), b.Capability.String()))
	})
	nothing := 1.0
	seen, listed := map[ExposureKind]bool{}, map[string]bool{}
	var first, rest []ExposureItem // so that no cap leaves out a kind that was seen
	for _, item := range items {
		if !seen[item.Kind] { // the weightiest of its kind
			seen[item.Kind] = true
			nothing *= 1 - item.weight()
		}
		if as := string(item.Kind) + string(item.Basis); listed[as] {
			rest = append(rest, item)
		} else {
			first, listed[as] = append(first, item), true
		}
	}
	items = append(first, rest...)
	e := Exposure{Items: items, Combinations: combinations(items)}
	if len(items) > 0 {
		e.Score = max(1, int(math.Round(100*(1-nothing))))
	}
	e.Level = RiskLevelOf(e.Score)
	return e
}

// weight returns the score of an item alone, as a share of 100.
func (i ExposureItem) weight() float64 {
	weight, share := exposureWeights[i.Kind], reachShares[i.Reach]
	if i.Basis == BasisDeclared {
		share *= declaredShare
	}
	return weight * share
}

// Kinds returns the proven kinds of exposure, each with its furthest reach, the weightiest
// first.
func (e Exposure) Kinds() []Exposed {
	var all []Exposed
	for _, item := range e.Items {
		i := slices.IndexFunc(all, func(k Exposed) bool { return k.Kind == item.Kind })
		switch {
		case item.Basis == BasisDeclared:
		case i < 0:
			all = append(all, Exposed{item.Kind, item.Reach})
		case item.Reach.AtLeast(all[i].Reach):
			all[i].Reach = item.Reach
		}
	}
	return all
}

// combinations returns the combinations among proven items.
func combinations(items []ExposureItem) (all []ExposureCombination) {
	find := func(reach Reach, kinds ...ExposureKind) string {
		for _, item := range items {
			if item.Basis == BasisProven && item.Reach.AtLeast(reach) && slices.Contains(kinds, item.Kind) {
				return item.Capability.String()
			}
		}
		return ""
	}
	content := find(ReachFixed, ExposesUntrustedContent)
	private := cmp.Or(find(ReachFixed, ExposesSecrets), find(ReachBounded, ExposesFileRead, ExposesDatabaseQuery))
	out := cmp.Or(find(ReachArbitrary, ExposesNetworkEgress), find(ReachBounded, ExposesMessaging), find(ReachPartial, ExposesNetworkEgress))
	if content != "" && private != "" && out != "" {
		all = append(all, ExposureCombination{CombinationLethalTrifecta,
			fmt.Sprintf("%s brings in what others have written, %s reads private data, and %s can send it out", Cut(content, 120), Cut(private, 120), Cut(out, 120))})
	}
	secrets, anywhere := find(ReachFixed, ExposesSecrets), find(ReachArbitrary, ExposesNetworkEgress)
	if secrets != "" && anywhere != "" {
		all = append(all, ExposureCombination{CombinationSecretsAndEgress,
			fmt.Sprintf("%s gives secrets away, and %s connects to any host", Cut(secrets, 160), Cut(anywhere, 160))})
	}
	return all
}
