// Package lazyregexp has regular expressions that are compiled at their first use.
//
// One audit starts this program dozens of times: as itself, as the stages of each
// launch's sandbox, and as the shims in it. Most of those processes use none of its
// expressions, and compiling them all would be more than half of their start-up.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression of RE2's syntax (https://github.com/google/re2/wiki/Syntax).
// Its methods are those of [regexp.Regexp], and safe for concurrent use.
type Regexp struct {
	once sync.Once
	expr string
	rx   *regexp.Regexp
}

// inTest holds expressions to be compiled at once, so that a test of any package finds
// those that do not compile.
var inTest = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")

// New has a regular expression compiled when it is first used. It panics there, as
// [regexp.MustCompile] does, for one that does not compile.
func New(expr string) *Regexp {
	re := &Regexp{expr: expr}
	if inTest {
		re.compiled()
	}
	return re
}

func (re *Regexp) compiled() *regexp.Regexp {
	re.once.Do(func() { re.rx = regexp.MustCompile(re.expr) })
	return re.rx
}

// MatchString is [regexp.Regexp.MatchString].
func (re *Regexp) MatchString(s string) bool { return re.compiled().MatchString(s) }

// FindString is [regexp.Regexp.FindString].
func (re *Regexp) FindString(s string) string { return re.compiled().FindString(s) }

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (re *Regexp) FindStringIndex(s string) []int { return re.compiled().FindStringIndex(s) }

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (re *Regexp) FindStringSubmatch(s string) []string {
	return re.compiled().FindStringSubmatch(s)
}

// FindAll is [regexp.Regexp.FindAll].
func (re *Regexp) FindAll(b []byte, n int) [][]byte { return re.compiled().FindAll(b, n) }

// FindAllSubmatch is [regexp.Regexp.FindAllSubmatch].
func (re *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return re.compiled().FindAllSubmatch(b, n)
}

// FindAllString is [regexp.Regexp.FindAllString].
func (re *Regexp) FindAllString(s string, n int) []string { return re.compiled().FindAllString(s, n) }

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (re *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return re.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (re *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return re.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is [regexp.Regexp.FindAllStringSubmatchIndex].
func (re *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return re.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll is [regexp.Regexp.ReplaceAll].
func (re *Regexp) ReplaceAll(b, with []byte) []byte { return re.compiled().ReplaceAll(b, with) }

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (re *Regexp) ReplaceAllString(s, with string) string {
	return re.compiled().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (re *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return re.compiled().ReplaceAllStringFunc(s, with)
}

// Split is [regexp.Regexp.Split].
func (re *Regexp) Split(s string, n int) []string { return re.compiled().Split(s, n) }

// ReplaceAllLiteralString is [regexp.Regexp.ReplaceAllLiteralString].
func (re *Regexp) ReplaceAllLiteralString(s, with string) string {
	return re.compiled().ReplaceAllLiteralString(s, with)
}
