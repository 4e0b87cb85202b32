package inputs

import (
	"cmp"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// lesson holds what refusals taught about one place in the arguments.
type lesson struct {
	traits
	// keys are the keys that a map has to have.
	keys []string
	// offers are the values that the last error offered in place of the refused one.
	offers []string
	// refused are the values that errors named.
	refused map[string]bool
}

// traits decide which candidates a place has.
type traits struct {
	// endings are the file extensions that it takes.
	endings []string
	// absent: the made-up name does not exist but must; present: the name exists but must be new.
	absent, present bool
	// dirs are the directories where a path has to be.
	dirs []string
	// path: the text must be a path, whatever its name; file, folder, repository: the path
	// must be that of a file, a directory, a Git repository.
	path, file, folder, repository bool
	// amended are keywords that its schema lacks; later: its date has to be after another, or after today.
	amended map[string]any
	later   bool
	// absolute counts the refusals of absolute paths, perhaps because they are absolute.
	absolute int
	// rooted: an error asked for an absolute path.
	rooted bool
	// web counts the refusals of URLs of pages.
	web int
	// letters: a name may have only letters, digits and underscores.
	letters bool
	// json: the text must be JSON.
	json bool
}

const (
	// maxLessons bounds the places with a lesson, and maxRepairs the calls of a form that
	// apply lessons.
	maxLessons = 64
	maxRepairs = 12
)

// What an error says about the value that it names.
var (
	absent = lazyregexp.New(`(?i)\b(?:(?:do(?:es)?|did) ?n[o']t exist|not exist|not found|no such|not be found|(?:could not|couldn't|cannot|can't) (?:find|open|locate|load)|` +
		`did not match any|ENOENT|unknown|missing file|is not an? (?:existing|valid|known)|must (?:already )?exist|(?:be|not) an existing|no \w+ (?:found|named|called|with))\b|\bno \w+ ["'\x60‘“]`)
	present = lazyregexp.New(`(?i)\b(?:already (?:exists?|in use|taken|registered|present)|exists already|file exists|EEXIST|duplicate|must be unique|not unique)\b`)
)

// What an error says about a path to something of the wrong sort.
var (
	notFile   = lazyregexp.New(`(?i)\b(?:is a directory|EISDIR|not an? (?:\w+ )?file|(?:must|should) be an? (?:existing |regular |readable )*file)\b`)
	notFolder = lazyregexp.New(`(?i)\b(?:not an? (?:\w+ )?(?:directory|folder)|ENOTDIR|(?:must|should) be an? (?:existing |valid |readable )*(?:directory|folder))\b`)
	// noFolder matches errors about a program's working directory.
	noFolder      = lazyregexp.New(`(?i)\b(?:(?:cannot|can't|could not|couldn't|failed to) (?:change (?:director(?:y|ies) )?to|chdir|cd)\b|chdir\b)`)
	notRepository = lazyregexp.New(`(?i)\b(?:not a (?:valid )?git repo|not (?:in|inside) a git (?:repo|dir)|not a (?:valid )?repository)`)
	noSuchFile    = lazyregexp.New(`(?i)\b(?:no such file or directory|ENOENT|cannot find the (?:path|file))\b`)
)

// lettersOnly matches errors that ask for an identifier: made-up names have hyphens.
var lettersOnly = lazyregexp.New(`(?i)\b(?:letters?|alphanumerics?|digits|numbers)\b[^.\n]{0,60}\bunderscores?\b|\b(?:starts?|begins?) with (?:a|an) (?:letter|underscore)\b|` +
	`\b(?:valid|legal|invalid|illegal) identifier\b|\bno (?:hyphens|dashes)\b`)

// notJSON matches errors about a text that must be JSON.
var notJSON = lazyregexp.New(`(?i)\b(?:not (?:a )?(?:valid )?JSON|(?:in|mal)(?:valid|formed) JSON|JSON ?DecodeError|(?:be|as) (?:valid )?JSON|(?:parse|parsing|decode) (?:the )?(?:\w+ (?:as )?)?JSON|JSON\.parse)\b|\bis not valid JSON|Unexpected token .{1,24} in JSON`)

// endsWith matches errors that ask for a file name by its extension.
var endsWith = lazyregexp.New(`(?i)\bend(?:s|ing)? (?:in|with)\b|\bextensions?\b`)

// bound matches the bounds that an error names for a number.
var bound = lazyregexp.New(`(?i)(?:\b(?:at least|at most|or equal to|minimum(?: of| is|:)?|maximum(?: of| is|:)?|between)|>=|<=|≥|≤)\s*(-?\d{1,12}(?:\.\d{1,6})?)\b`)

// begins matches the prefix that an error asks for: quoted, or ending in punctuation. scheme is the scheme of a URL, and
// plainPart the part of a value that may follow the new prefix.
var (
	begins    = lazyregexp.New("(?i)\\b(?:start|begin)(?:s|ning|ing)? with:? (?:an? |the )?(?:prefix )?(?:[\"'`]([\\w-]{1,31})[\"'`]|[\"'`]?([\\w.:@#$/-]{0,31}[.:@#$/_-]))")
	scheme    = lazyregexp.New(`^\w+://`)
	plainPart = lazyregexp.New(`[\w./-]+`)
)

// outside matches errors that say that a path lies outside where it must be.
var outside = lazyregexp.New(`(?i)\b(?:outside|escapes?|not (?:with)?in|not under|not allowed|allowed director|permitted director|` +
	`must be (?:with)?in|must be (?:inside|under|below)|access denied|forbidden|restricted)\b`)

// placed is a text or a number of a call, and its place. within is the whole value that it is a part of.
type placed struct{ at, name, value, within string }

// Refused learns from the error of a call: the next calls change the values that it
// complains of, and keep the rest.
func (f *Form) Refused(c Case, text string) {
	if !c.Shape.Proper() {
		return
	}
	f.declare(head(text, maxText))
	f.complain(text)
	text = worded(head(text, maxText))
	if len(c.named(text)) == 0 {
		text = unescaped(text)
	}
	f.readRefusal(c, text)
	f.readSizes(text)
	f.missKeys(text)
	f.missEntries(text)
	blamed, offered := c.blamed(text), c.offered(text)
	for _, p := range blamed {
		f.learn(p, text, offered)
	}
	if len(blamed) == 0 && !f.repair { // otherwise the error named it
		blamed = f.suspect(c)
	}
	if f.repair {
		f.refused = newRefusal(c, blamed)
	}
}

// missing matches errors that ask for a missing value.
var missing = lazyregexp.New(`(?i)\b(?:required|missing|must (?:be )?(?:provide|specif|given|set|supplied)|(?:provide|specify|supply|give|pass|set)|needs?|expected|at least one of|is not set)|` + inOtherWords)

// lesson returns the lesson of a place; nil if there are too many.
func (f *Form) lesson(at string) *lesson {
	if f.lessons[at] == nil && len(f.lessons) < maxLessons {
		f.lessons[at] = &lesson{refused: map[string]bool{}}
	}
	return f.lessons[at]
}

// taught returns what refusals have taught about a place; an empty lesson for nothing.
func (f *Form) taught(n *node) *lesson {
	if known := f.lessons[n.at]; known != nil {
		return known
	}
	return &lesson{}
}

// learn notes what a text says about one value, and what it offers.
func (f *Form) learn(p placed, text string, offered []string) {
	l := f.lesson(p.at)
	if l == nil || len(l.refused) >= maxOffers {
		return
	}
	whole := cmp.Or(p.within, p.value)
	before, known := *l, l.refused[whole]
	l.refused[whole] = true
	l.offer(f.offersFor(p, text, offered))
	said := lineWith(text, p.value)
	l.note(said)
	l.amend(said)
	f.options.Ways.wants(p.name, l.endings)
	if noSuchFile.MatchString(said) && !Commands(p.name) && quotesIt(said, p.value) {
		l.path = true // the value was opened as it is: joined to a directory, the error would name that too
	}
	if outside.MatchString(said) {
		l.dirs = f.options.directories(text, p.value)
	}
	l.doubt(whole, said, before.dirs, f.options)
	l.doubtURL(whole)
	f.repair = f.repair || !known || !slices.Equal(l.offers, before.offers) || l.web != before.web
	leaf := f.leaves[p.at]
	if leaf == nil {
		return
	}
	leaf.stale = leaf.stale || !reflect.DeepEqual(l.traits, before.traits)
	if leaf.best != nil && plain(leaf.best.value) == whole {
		leaf.best = nil
	}
}

// offer takes over the values that an error offers, if any.
func (l *lesson) offer(found []string) {
	if len(found) > 0 {
		l.offers = found
	} else {
		l.offers = slices.DeleteFunc(slices.Clone(l.offers), func(offer string) bool { return l.refused[offer] })
	}
	for _, offer := range l.offers {
		delete(l.refused, offer)
	}
}

// note learns what an error says about the required kind of value.
func (l *lesson) note(said string) {
	if notRepository.MatchString(said) { // ".git" in it is not an extension
		l.repository, l.folder, l.file = true, true, false
		return
	}
	if found := endings(ending, said); len(found) > 0 {
		l.endings, l.path = found, l.path || endsWith.MatchString(said)
	}
	switch {
	case present.MatchString(said):
		l.present, l.absent = true, false
	case absent.MatchString(said):
		l.present, l.absent = false, true
	}
	switch {
	case lettersOnly.MatchString(said):
		l.letters = true
	case notFolder.MatchString(said), noFolder.MatchString(said):
		l.file, l.folder = false, true
		l.absent = l.absent || !l.present // also for a tool that creates something of it
	case notFile.MatchString(said), len(l.endings) > 0:
		l.file, l.folder = true, false
	}
	l.json = l.json || notJSON.MatchString(said)
}

// offersFor returns the values that an error offers in place of one: for a number also
// its bounds.
func (f *Form) offersFor(p placed, text string, offered []string) (found []string) {
	if isNumber(p.value) {
		for _, match := range bound.FindAllStringSubmatch(text, maxOffers) {
			found = append(found, match[1])
		}
	}
	if match := begins.FindStringSubmatch(text); match != nil && !strings.HasPrefix(p.value, match[1]+match[2]) {
		found = append(found, match[1]+match[2]+strings.TrimLeft(plainPart.FindString(scheme.ReplaceAllLiteralString(p.value, "")), "/"))
	}
	found = slices.DeleteFunc(append(found, offered...), func(offer string) bool {
		return stripped(offer) == stripped(p.value) || f.mentions(offer, p.name)
	})
	if p.within != "" {
		for i, offer := range found {
			found[i] = strings.Replace(p.within, p.value, offer, 1)
		}
	}
	return found
}

// directories returns where a path has to be if a text calls it outside: the directories
// that the text names and arguments may use, or those that the server was started for.
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

// lineWith returns the lines of a text that contain a value.
func lineWith(text, value string) string {
	var found strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, value) {
			found.WriteString(line)
		}
	}
	return cmp.Or(found.String(), text)
}

// refuses reports whether an error named a value.
func (l *lesson) refuses(value any) bool { return l.refused[plain(value)] }

// plain returns a value as an error would show it.
func plain(value any) string {
	if text, is := value.(string); is {
		return text
	}
	return canonical(value)
}
