package report

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBytes bounds the JSON of a capped report. It fits an etcd object (1.5 MiB by default)
// with room to spare, and a container log.
const MaxBytes = 256 << 10

// Caps that code uses, in items or bytes of UTF-8. The tags of the fields have all caps (see
// rule); the schema of MCPAuditReport allows at least as much.
const (
	MaxFindings      = 256
	MaxEvidence      = 4
	MaxSamples       = 64
	MaxTruncations   = 32
	MaxChanges       = 32
	MaxScope         = 128
	MaxAllowed       = 64
	MaxBehavior      = 512
	MaxRiskParts     = 24
	MaxDefinition    = 8192
	MaxCodePaths     = 64
	MaxCodePathBytes = 256
	MaxChangeBytes   = 1024
	MaxMessageBytes  = 1024
	MaxDetailBytes   = 512
	MaxPathBytes     = 512
	MaxStderrBytes   = 4096
	maxSummaryBytes  = 3 << 10
	maxSummaryReason = 512
)

// shrinks lowers the caps of fields step by step while a report is larger than MaxBytes. The
// record is cut before the findings, and the details of a capability before the capability
// itself, without which no audit passes.
var shrinks = map[string][shrinkSteps]int{
	"effects":      {64, 64, 16, 8, 4, 1, 1, 1, 0},
	"outputs":      {64, 64, 32, 16, 8, 4, 2, 2, 0},
	"capabilities": {512, 512, 512, 512, 512, 512, 64, 16, 0},
	"description":  {2048, 512, 128, 32, 0, 0, 0, 0, 0},
	"definition":   {8192, 2048, 512, 0, 0, 0, 0, 0, 0},
	"items":        {512, 512, 512, 512, 512, 512, 128, 32, 0},
	"findings":     {256, 256, 256, 256, 256, 256, 128, 64, 20},
	"exposures":    {256, 256, 128, 64, 32, 24, 24, 24, 24},
	"drift":        {32, 32, 16, 8, 4, 4, 4, 4, 4},
	"scope":        {128, 128, 32, 16, 16, 16, 16, 16, 16},
	"peers":        {128, 128, 32, 16, 8, 8, 8, 4, 0},
	"behavior":     {512, 512, 128, 64, 32, 32, 32, 16, 16},
}

const shrinkSteps = 9

// Cap trims every list and text to its cap, and lists further until the JSON has at most
// MaxBytes. It sorts the findings, worst first, so these are kept. Truncated counts what was
// cut, which turns a Pass into Inconclusive. Texts become valid UTF-8.
func (r *Report) Cap() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return b.Severity.weight() - a.Severity.weight() })
	t := &trimmer{dropped: map[string]int{}}
	t.report(r)
	for size(r) > MaxBytes && t.step < shrinkSteps-1 {
		t.step++
		t.report(r)
	}
	if size(r) > MaxBytes {
		t.tight = true
		t.report(r)
	}
	for field, n := range t.dropped {
		r.truncated(field, n)
	}
	slices.SortFunc(r.Truncated, func(a, b Truncation) int { return strings.Compare(a.Field, b.Field) })
	r.Truncated = r.Truncated[:min(len(r.Truncated), MaxTruncations)]
	if len(r.Truncated) > 0 && r.Verdict == VerdictPass {
		r.Verdict, r.Reason = VerdictInconclusive, ReasonReportTruncated
		r.Message = fmt.Sprintf("the report had to leave out %d of %s", r.Truncated[0].Dropped, r.Truncated[0].Field)
	}
}

// weight is Rank, but unknown severities are highest, as in Count.
func (s Severity) weight() int {
	if rank := s.Rank(); rank >= 0 {
		return rank
	}
	return len(Severities)
}

func (r *Report) truncated(field string, n int) {
	for i := range r.Truncated {
		if r.Truncated[i].Field == field {
			r.Truncated[i].Dropped += n
			return
		}
	}
	r.Truncated = append(r.Truncated, Truncation{Field: field, Dropped: n})
}

// size returns the bytes of the JSON, with room for a full list of truncations.
func size(r *Report) int {
	const truncations = 4 << 10
	b, err := json.Marshal(r)
	if err != nil {
		return MaxBytes + 1
	}
	return len(b) + truncations
}

// trimmer cuts lists and texts and counts what it left out.
type trimmer struct {
	dropped map[string]int
	// step is the column of shrinks.
	step int
	// tight is the last resort against texts whose bytes each take six in JSON, such as control
	// characters: all texts are cut to a tightness-th of their caps.
	tight bool
}

const tightness = 16

func (t *trimmer) report(r *Report) {
	entries := len(r.Behavior.Entries)
	visit(reflect.ValueOf(r).Elem(), t.field)
	if len(r.Behavior.Entries) < entries {
		r.Behavior.Digest = "" // entries that were cut cannot be compared
	}
}

// field trims one list or text. A field that only illustrates the findings is a sample: what
// is cut from it is not counted, and makes no audit incomplete.
func (t *trimmer) field(r rule, v, tally reflect.Value) {
	if r.most == 0 {
		return
	}
	most := r.most
	if row, ok := shrinks[r.shrink]; ok {
		most = min(most, row[t.step])
	}
	cut := 0
	switch {
	case r.keep == "whole":
		if t.exceeds(v, most, r.each) {
			v.SetZero()
		}
	case v.Kind() == reflect.String:
		if lost := t.text(v, most, r.keep); lost > 0 {
			t.count(r.counted, lost)
			cut = 1
		}
	default:
		cut = max(v.Len()-most, 0)
		v.SetLen(min(v.Len(), most))
		t.count(r.counted, cut)
		for i := range v.Len() {
			if r.each > 0 {
				t.count(r.eachName, t.text(v.Index(i), r.each, ""))
			}
		}
	}
	if r.tally != "" {
		tally.SetInt(tally.Int() + int64(cut))
	}
}

// exceeds reports whether a text, or a list of texts, does not fit whole.
func (t *trimmer) exceeds(v reflect.Value, most, each int) bool {
	if v.Kind() == reflect.String {
		return v.Len() > most
	}
	texts, _ := v.Interface().([]string)
	return t.tight || len(texts) > most ||
		slices.ContainsFunc(texts, func(text string) bool { return len(text) > each || !utf8.ValidString(text) })
}

// text cuts a text, and returns how many bytes it lost.
func (t *trimmer) text(v reflect.Value, most int, keep string) (lost int) {
	text := v.String()
	before := len(text)
	if keep == "end" {
		text = text[max(before-most, 0):]
	}
	if t.tight {
		most /= tightness
	}
	over := len(text) > most
	v.SetString(Cut(text, most))
	if !over {
		return 0
	}
	return before - v.Len()
}

func (t *trimmer) count(name string, n int) {
	if name != "" && n > 0 {
		t.dropped[name] += n
	}
}
