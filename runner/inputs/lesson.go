package inputs

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// lesson is what refusals have taught about one place in the arguments.
type lesson struct {
	// endings are those that the name of a file has to have there.
	endings []string
	// absent: nothing has the name that was made up, and something has to; present: it
	// has to be new, and is not.
	absent, present bool
	// given: what is optional there has to be given.
	given bool
	// dirs are the directories that a path has to lie in.
	dirs []string
	// refused are the values that errors spoke of.
	refused map[string]bool
	// kept is how often a value was tried again that nobody spoke of.
	kept int
}

const (
	// maxLessons bounds the places that something is learned about, maxKept how often
	// a value gets another chance there, and maxRepairs the calls of a form that are
	// made because something was learned.
	maxLessons = 64
	maxKept    = 4
	maxRepairs = 8
)

// What an error says of the value that it names.
var (
	absent = regexp.MustCompile(`(?i)\b(?:(?:do(?:es)?|did) ?n[o']t exist|not exist|not found|no such|not be found|(?:could not|couldn't|cannot|can't) (?:find|open|locate|load)|` +
		`did not match any|ENOENT|unknown|missing file|is not an? (?:existing|valid|known)|no \w+ (?:found|named|called|with))\b`)
	present = regexp.MustCompile(`(?i)\b(?:already (?:exists?|in use|taken|registered|present)|exists already|file exists|EEXIST|duplicate|must be unique|not unique)\b`)
)

// outside finds errors that say that a path lies where it may not.
var outside = regexp.MustCompile(`(?i)\b(?:outside|escapes?|not (?:with)?in|not under|not allowed|allowed director|permitted director|` +
	`must be (?:with)?in|must be (?:inside|under|below)|access denied|forbidden|restricted)\b`)

// placed is a text or a number of a call, and where it stands.
type placed struct{ at, name, value string }

// Refused learns from the error that a call was answered with: the next ones change
// what it speaks of, and leave the rest.
func (f *Form) Refused(c Case, text string) {
	if !c.Shape.Proper() {
		return
	}
	text = worded(head(text, maxText))
	f.miss(c, text)
	blamed := c.blamed(text)
	for _, p := range blamed {
		f.learn(p, text)
	}
	if len(blamed) == 0 {
		return
	}
	for _, t := range c.trials {
		if slices.ContainsFunc(blamed, func(p placed) bool { return p.at == t.at }) {
			continue
		}
		if l := f.lesson(t.at); l != nil && l.kept < maxKept {
			l.kept++
			delete(f.leaves[t.at].tried, canonical(t.candidate.value))
		}
	}
}

// blamed are the values that an error names; where it names none, those whose places
// it names.
func (c Case) blamed(text string) (found []placed) {
	for _, p := range c.placed {
		if len(p.value) > 2 && speaksOf(text, p.value) {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, p := range c.placed {
		if p.name != "" && speaksOf(text, p.name) {
			found = append(found, p)
		}
	}
	if len(found) == 0 && len(c.placed) == 1 && informative(text) {
		return c.placed
	}
	return found
}

// informative reports whether an error says something of a value that it does not name.
func informative(text string) bool {
	return ending.MatchString(text) || absent.MatchString(text) || present.MatchString(text) || outside.MatchString(text)
}

// miss learns which optional property an error asks for: of several in one line the
// first, for they are mostly alternatives.
func (f *Form) miss(c Case, text string) {
	for line := range strings.Lines(head(text, maxLength)) {
		if !missing.MatchString(line) {
			continue
		}
		first := len(line)
		var wanted *lesson
		f.tree.each(func(each field) {
			at := strings.Index(line, each.name)
			if each.name == "" || each.required || c.taken.has(each.present) || at < 0 || at >= first || !speaksOf(line, each.name) {
				return
			}
			if l := f.lesson(each.node.at); l != nil {
				first, wanted = at, l
			}
		})
		if wanted != nil && !wanted.given {
			wanted.given, f.repair = true, true
		}
	}
}

// missing finds errors that ask for what was not given.
var missing = regexp.MustCompile(`(?i)\b(?:required|missing|must (?:be )?(?:provide|specif|given|set|supplied)|(?:provide|specify|supply|give)|needs?|expected|at least one of|is not set)`)

// speaksOf reports whether a text has another in it that no word goes on.
func speaksOf(text, part string) bool {
	for {
		before, after, has := strings.Cut(text, part)
		if !has {
			return false
		}
		if !endsWord(before) && !beginsWord(after) {
			return true
		}
		text = after
	}
}

func endsWord(text string) bool   { return text != "" && isWord(text[len(text)-1]) }
func beginsWord(text string) bool { return text != "" && isWord(text[0]) }

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// lesson is what is known of a place; nil when there are too many.
func (f *Form) lesson(at string) *lesson {
	if f.lessons[at] == nil && len(f.lessons) < maxLessons {
		f.lessons[at] = &lesson{refused: map[string]bool{}}
	}
	return f.lessons[at]
}

// learn notes what a text says of one value.
func (f *Form) learn(p placed, text string) {
	l := f.lesson(p.at)
	if l == nil || l.refused[p.value] || len(l.refused) >= maxOffers {
		return
	}
	l.refused[p.value] = true
	before := *l
	said := lineWith(text, p.value)
	if found := endings(ending, said); len(found) > 0 {
		l.endings = found
	}
	switch {
	case present.MatchString(said):
		l.present, l.absent = true, false
	case absent.MatchString(said):
		l.present, l.absent = false, true
	}
	if outside.MatchString(said) {
		l.dirs = f.options.directories(text, p.value)
	}
	f.repair = true
	if l.present != before.present || l.absent != before.absent || !slices.Equal(l.endings, before.endings) || !slices.Equal(l.dirs, before.dirs) {
		if known := f.leaves[p.at]; known != nil {
			known.stale = true
		}
	}
}

// directories are where a path has to lie that a text says to be outside: those that
// the text names and arguments may lead to, else those that the server was started for.
func (o Options) directories(text, but string) (found []string) {
	for _, match := range paths.FindAllStringSubmatch(text, maxOffers) {
		dir := path.Clean(strings.TrimRight(match[1], ".,:;!?"))
		if !places.Within(path.Clean(but), dir) && o.within(dir) && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return o.Bound
	}
	return found
}

// lineWith is the part of a text that speaks of a value: the line that it is in.
func lineWith(text, value string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, value) {
			return line
		}
	}
	return text
}

// repaired makes the call that follows a refusal: no more than is required, as the
// refusals have taught.
func (f *Form) repaired(pool *Pool, mark Mark) (Case, bool) {
	if !f.repair || f.repairs >= maxRepairs {
		return Case{}, false
	}
	f.repair = false
	f.repairs++
	d, ok := f.aimed(ShapeRequired, -1, pool, mark)
	if !ok {
		return Case{}, false
	}
	return f.send(d), true
}

// refuses reports whether an error has spoken of a value.
func (l *lesson) refuses(value any) bool {
	text, is := value.(string)
	if !is {
		text = canonical(value)
	}
	return l != nil && l.refused[text]
}
