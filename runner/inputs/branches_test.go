package inputs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// What each schema has for branches, all of which have to be taken by arguments
// that an independent validator finds to fit.
func TestBranches(t *testing.T) {
	for name, tc := range map[string]struct {
		branches, calls int
		schema          string
	}{
		"nothing":            {0, 1, `{"type":"object"}`},
		"required":           {0, 1, `{"properties":{"a":{"type":"string"}},"required":["a"]}`},
		"optional":           {2, 2, `{"properties":{"a":{"type":"string"}}}`},
		"enum":               {3, 3, `{"properties":{"a":{"enum":["x",2,null]}},"required":["a"]}`},
		"enum of one":        {0, 1, `{"properties":{"a":{"enum":["x"]}},"required":["a"]}`},
		"long enum":          {16, 16, `{"properties":{"a":{"enum":[` + strings.TrimSuffix(strings.Repeat(`"v%",`, 40), ",") + `]}},"required":["a"]}`},
		"boolean":            {4, 3, `{"properties":{"a":{"type":"boolean"}}}`},
		"array":              {2, 2, `{"properties":{"a":{"type":"array","items":{"type":"string"}}},"required":["a"]}`},
		"array, not empty":   {0, 1, `{"properties":{"a":{"type":"array","minItems":1,"items":{"type":"string"}}},"required":["a"]}`},
		"array of an enum":   {5, 2, `{"properties":{"a":{"type":"array","items":{"enum":[1,2,3]},"uniqueItems":true}},"required":["a"]}`},
		"tuple":              {2, 2, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"array","items":[{"const":1},{"type":"string"}],"additionalItems":false}},"required":["a"]}`},
		"prefixItems":        {0, 1, `{"properties":{"a":{"type":"array","minItems":2,"prefixItems":[{"const":1},{"enum":[5]}],"items":{"multipleOf":3,"type":"integer"}}},"required":["a"]}`},
		"anyOf":              {5, 4, `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}},{"type":"null"}]}},"required":["a"]}`},
		"one of kinds":       {4, 3, `{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}},"required":["k","x"]},{"properties":{"k":{"const":"b"},"y":{"type":"integer"}},"required":["k"]}],"type":"object"}`},
		"either is required": {6, 3, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`},
		"types":              {3, 3, `{"properties":{"a":{"type":["string","integer","null"]}},"required":["a"]}`},
		"allOf and a $ref":   {2, 2, `{"allOf":[{"$ref":"#/$defs/x"}],"required":["b"],"$defs":{"x":{"properties":{"b":{"type":"boolean"},"c":{"const":1}},"required":["c"]}}}`},
		"definitions":        {2, 2, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/on~1off"}},"required":["a"],"definitions":{"on/off":{"type":"string","enum":["on","off"]}}}`},
		"anchor":             {2, 2, `{"properties":{"a":{"$ref":"#flag"}},"required":["a"],"$defs":{"x":{"$anchor":"flag","type":"boolean"}}}`},
		"a tree":             {4, 2, `{"properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v","kids"]}`},
		"a list":             {2, 2, `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/n"}},"required":["v"]}}}`},
		"a map":              {2, 2, `{"properties":{"m":{"type":"object","additionalProperties":{"type":"integer","minimum":5}}},"required":["m"]}`},
		"a map by pattern":   {4, 3, `{"properties":{"m":{"type":"object","patternProperties":{"^x-[a-z]+$":{"type":"boolean"}},"additionalProperties":false}},"required":["m"]}`},
		"if":                 {6, 3, `{"properties":{"k":{"enum":["a","b"]},"x":{"type":"string"}},"required":["k"],"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]},"else":{"properties":{"z":{"type":"integer"}},"required":["z"]}}`},
		"dependentRequired":  {4, 3, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"dependentRequired":{"a":["b"]}}`},
		"dependencies":       {4, 3, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"string"},"b":{"type":"string"}},"dependencies":{"a":["b"]}}`},
		"at least one":       {4, 2, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"minProperties":1}`},
		"at most one":        {4, 3, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"maxProperties":1}`},
		"not both":           {4, 3, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"not":{"required":["a","b"]}}`},
		"bounds":             {2, 2, `{"properties":{"a":{"type":"number","exclusiveMinimum":2,"maximum":9,"multipleOf":2.5}}}`},

		// What the tree offers and the schema forbids is no branch.
		"never":               {1, 1, `{"properties":{"a":false}}`},
		"no such type":        {2, 2, `{"properties":{"a":{"type":"string","enum":["x",2,"y"]}},"required":["a"]}`},
		"no such alternative": {1, 1, `{"properties":{"a":{"type":"string","anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"]}`},
		"nothing between":     {1, 1, `{"properties":{"a":{"type":"integer","minimum":5,"maximum":4}}}`},
		"forbidden":           {1, 1, `{"properties":{"a":{"enum":["x","y"]}},"required":["a"],"not":{"properties":{"a":{"const":"x"}}}}`},
		"items forbidden":     {0, 1, `{"properties":{"a":{"type":"array","items":false}},"required":["a"]}`},
		"never absent":        {1, 1, `{"properties":{"a":{"type":"string"}},"minProperties":1,"additionalProperties":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			for i := 0; strings.Contains(tc.schema, "%"); i++ {
				tc.schema = strings.Replace(tc.schema, "%", fmt.Sprint(i), 1)
			}
			schema := json.RawMessage(tc.schema)
			for seed := range int64(3) {
				f, calls := NewForm(schema, Options{Seed: seed}), 0
				for _, c := range run(t, f, nil) {
					if c.Shape == ShapeRequired || c.Shape == ShapeAll {
						calls++
					}
					if err := validate(schema, c.Arguments); (err == nil) == (c.Shape == ShapeInvalid) {
						t.Errorf("%s %s: %v", c.Shape, c.Arguments, err)
					}
					t.Log(c.Shape, string(c.Arguments))
				}
				if total, done := f.Branches(); total != tc.branches || done != total || calls > tc.calls {
					t.Errorf("seed %d: %d of %d branches in %d calls, want %d in %d", seed, done, total, calls, tc.branches, tc.calls)
				}
			}
		})
	}
}

// What cannot fit is asked once, as good as it can be made, and takes no branch.
func TestNothingFits(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"a":{"type":"boolean"}},"required":["a"],"not":{}}`), Options{})
	c, ok := f.Next(nil, Mark{Call: 1})
	if f.Answered(c, true); !ok || c.taken != (set{}) {
		t.Errorf("%s takes %v", c.Arguments, c.taken)
	}
	if total, done := f.Branches(); total != 0 || done != 0 {
		t.Errorf("%d of %d branches", done, total)
	}
}

// The members of an enum, of which there may be very many, are compared as they are.
func TestLargeEnum(t *testing.T) {
	members := make([]any, 10_000)
	for i := range members {
		members[i] = strconv.Itoa(i)
	}
	schema := map[string]any{"enum": members}
	if n := testing.AllocsPerRun(1, func() { _, _ = fits(schema, "other", maybe) }); n > 100 {
		t.Errorf("%v allocations", n)
	}
	if found, _ := fits(schema, "9999", maybe); found != yes {
		t.Error(found)
	}
}
