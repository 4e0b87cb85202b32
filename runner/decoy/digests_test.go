package decoy

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestUndigested: names by a digest stay the same with another secret, unless another secret or digest was chosen.
func TestUndigested(t *testing.T) {
	one := Set{Vars: []Var{{Name: "A_TOKEN", Value: "a-token-0123456789", Secrets: []string{"0123456789abcdef"}}}}
	two := Set{Vars: []Var{{Name: "A_TOKEN", Value: "a-token-9876543210", Secrets: []string{"fedcba9876543210"}}}}
	long := func(s Set) string { return fmt.Sprintf("cache-%x.json", sha256.Sum256([]byte(s.Vars[0].Value))) }
	short := func(s Set) string { return fmt.Sprintf("%.6x", md5.Sum([]byte(s.Vars[0].Secrets[0]))) }
	for _, name := range []func(Set) string{long, short, func(Set) string { return "report-20261127" }} {
		if a, b := one.Undigested()(name(one)), two.Undigested()(name(two)); a != b {
			t.Errorf("%s is %s, and %s is %s", name(one), a, name(two), b)
		}
	}
	for _, names := range [][2]string{
		{long(one), short(two)}, {short(one), short(two)[:8]}, {fmt.Sprintf("%x", "0123456789abcdef"), fmt.Sprintf("%x", "fedcba9876543210")},
	} {
		if a, b := one.Undigested()(names[0]), two.Undigested()(names[1]); a == b {
			t.Errorf("%s and %s are %s", names[0], names[1], a)
		}
	}
}
