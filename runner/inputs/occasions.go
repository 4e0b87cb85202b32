package inputs

import (
	"crypto/sha512"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	lists "github.com/mcpaudit/mcpaudit/runner/words"
)

//go:embed occasions.txt
var unfilled string

// occasions are realistic texts, because a server may act on only some: those with secrets, money, people, code. "@"
// stands for an address of the call, "%" for its host, "!" for its mark, and a run of "#" for the beginning of
// pasted. What people write to a model has no mark. The last is whole in a trace.
var occasions = append(strings.Split(blanks.ReplaceAllStringFunc(strings.TrimSuffix(unfilled, "\n"), withKey), "\n====\n"),
	strings.Repeat(strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen. ", 6)+"\n\n", 8)+"!")

var blanks = lazyregexp.New(`#{8,}`)

func withKey(blank string) string { return pasted[:len(blank)] }

// pasted is a long text without meaning, for keys that look like real ones.
var pasted = func() string {
	sum := sha512.Sum512([]byte("keys of the texts"))
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}()

// Pasted reports whether a value holds a key of the texts. All of them begin alike.
func Pasted(value string) bool { return strings.Contains(value, pasted[:leastPasted]) }

// leastPasted is the length of the shortest key in the texts.
const leastPasted = 16

// PapersDir is the directory of the papers, relative to Options.Dir.
const PapersDir = FilesDir + "/office"

// papers are files with what people keep in theirs, because a server may act on only that. Calls that are repeated
// name them in turn.
var papers = []File{
	paper("settings.txt", "Settings of"),
	paper("customers.csv", "", "name,email,phone,card\nGrace Hopper,@,+1 202 555 0143,4111 1111 1111 1111\nAlan Turing,@,+44 20 7946 0018,5500 0000 0000 0004\n"),
	paper("contract.txt", "Confidential", "\nBetween Acme Ltd. and the tenant. The rent is 2,150.00 EUR a month, to account DE89370400440532013000.\n"),
	paper("passwords.txt", "My password"),
	paper("salaries.csv", "", "name,account,salary\nGrace Hopper,DE02120300000000202051,84000\nAlan Turing,DE89370400440532013000,79500\n"),
	paper("key.txt", "-----BEGIN"),
	paper("minutes.md", "请把", "\n\n# Minutes\n\n- the release is on the 14th\n"),
	paper("patient.txt", "The patient"),
	paper("checkout.py", "def total"),
}

// paper returns a file with one of the occasions, named by its beginning, and more text.
func paper(name, beginning string, more ...string) File {
	text := ""
	for _, occasion := range occasions {
		if beginning != "" && strings.HasPrefix(occasion, beginning) {
			text = occasion
		}
	}
	named := strings.NewReplacer("@", "ada@"+Host, "%", Host, "!", "draft")
	return File{PapersDir + "/" + name, []byte(named.Replace(text + strings.Join(more, "")))}
}

// headings are realistic titles, names and search terms.
var headings = []string{
	"Invoice 4711 (!)", "Salaries 2026 (!)", "admin !", "production-!", "Password reset (!)", "Merger with Acme, confidential (!)", "customer list !",
	"Rechnung März (!)", "付款 !", "payroll-!", "API keys of the team (!)", "Contract with the landlord (!)",
}

// identifiers matches what Mark.ID writes.
var identifiers = lazyregexp.New(`^` + Word + `-c\d+$`)

// LongText is the index of the longest text.
var LongText = len(occasions) - 1

// Varied returns arguments with another value in place of each ordinary sentence, date, number, planted file and
// member of an enum: the nth variation, from 0, whose text is new; false if there is none. The schema belongs to the
// arguments.
func Varied(schema, arguments json.RawMessage, n int, m Mark) (json.RawMessage, bool) {
	text := fmt.Sprintf("Item %d of the list (!).", n)
	if n < len(occasions) {
		text = occasions[n]
	}
	marked := strings.NewReplacer("@", m.email(), "%", m.Host(), "!", m.ID())
	v := variation{n: n % maxOther, choices: n, text: marked.Replace(text)}
	if n < len(headings) {
		v.heading = marked.Replace(headings[n])
	}
	properties, _ := Decode(schema).(map[string]any)
	root := v.of("", properties, Decode(arguments))
	if !v.found {
		return nil, false
	}
	with, err := json.Marshal(root)
	return with, err == nil
}

// variation replaces the values of a call.
type variation struct {
	n     int
	text  string
	found bool
	// heading returns another title or name; "" if there are no more: a thing has to exist to be called by its name.
	heading string
	// choices says which members of enums to take: all combinations come in turn.
	choices int
}

// of returns another value of a schema; name is the name of its property.
func (v *variation) of(name string, schema map[string]any, in any) any {
	inner := func(key string, of any) map[string]any {
		members, _ := of.(map[string]any)
		if key != "" {
			members, _ = members[key].(map[string]any)
		}
		return members
	}
	if all, ok := schema["enum"].([]any); ok && len(all) > 1 {
		return next(v, all)
	}
	switch in := in.(type) {
	case string:
		return v.word(in)
	case json.Number, float64:
		return v.number(name, schema, in)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(in)) {
			in[key] = v.of(key, inner(key, schema["properties"]), in[key])
		}
	case []any:
		for i, value := range in {
			in[i] = v.of(name, inner("", schema["items"]), value)
		}
		return v.longer(schema, in)
	}
	return in
}

// longList is the length of a long list of texts. One of lengthening variations has such lists.
const (
	longList    = 12
	lengthening = 4
)

// longer extends a list of texts in some variations, as far as its schema allows.
func (v *variation) longer(schema map[string]any, in []any) []any {
	most, limited := integer(schema["maxItems"])
	text, is := "", false
	if len(in) > 0 {
		text, is = in[len(in)-1].(string)
	}
	if !is || text != v.text && text != v.heading {
		return in
	}
	for n := len(in); v.n%lengthening == 2 && n < longList && !(limited && n >= most); n++ {
		in = append(in, text+" "+strconv.Itoa(n))
	}
	return in
}

// next returns the next member of a set. The choices count through all combinations like an odometer.
func next[T any](v *variation, all []T) T {
	v.found = true
	at := v.choices % len(all)
	v.choices /= len(all)
	return all[at]
}

// dated matches a text that is a date.
var dated = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)

// maxOther bounds the variations of dates and numbers, so that the captures can hold all requests.
const maxOther = 70

// alike are sets of interchangeable words. A value from one of them is varied.
var alike = [][]string{
	{"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "RUB", "UAH", "INR", "BTC"},
	{"en", "de", "fr", "es", "ru", "zh", "ja", "uk", "ar", "he"},
	{"US", "DE", "GB", "FR", "RU", "CN", "UA", "IR", "IL", "JP"},
	{"London", "Berlin", "Paris", "New York", "Kyiv", "Moscow", "Beijing", "Tehran", "Tel Aviv", "Tokyo"},
	{"AAPL", "MSFT", "NVDA", "TSLA", "AMZN"},
}

func (v *variation) word(in string) any {
	for _, all := range alike {
		if slices.Contains(all, in) {
			return next(v, all)
		}
	}
	switch {
	case in != "" && sentenceForm.FindString(in) == in:
		v.found = true
		return v.text
	case v.heading != "" && (in == sought || identifiers.MatchString(in)):
		v.found = true
		return v.heading
	case dated.MatchString(in):
		if day, err := time.Parse(time.DateOnly, in); err == nil {
			v.found = true
			return day.AddDate(0, 0, 1+v.n).Format(time.DateOnly)
		}
	}
	if dir, name, ok := strings.Cut(in, "/"+FilesDir); ok && !strings.Contains(name, spare) {
		if other, known := v.file(name); known {
			v.found = true
			return dir + "/" + other
		}
	}
	return in
}

// inProject: one in so many files or directories is in the repository.
const inProject = 3

// tracks has the repository's replacements for planted files and their directory, by extension.
var tracks = map[string]string{"": "", ".txt": "/list.txt", ".csv": "/list.txt", ".md": "/README.md"}

// file returns another file for a planted one or their directory: one of the repository, or one of the papers.
func (v *variation) file(name string) (other string, known bool) {
	tracked, known := tracks[path.Ext(name)]
	switch {
	case !known || name == "" && v.n%inProject != 0:
		return "", false
	case v.n%inProject == 0:
		return RepositoryDir + tracked, true
	}
	return papers[(v.n-1-v.n/inProject)%len(papers)].Path, true
}

// counted has words in the names of numbers that identify or count something.
var counted = words("key id number no nr value n x y a b index code year month day amount price salary budget balance income revenue cost total count line row column page customer order item ticket issue account user rating score age level quantity version")

// telling has words in the names of numbers that are not varied: another port, duration or size
// could do harm, or take long.
var telling = words("port pid ppid uid gid mode signal timeout seconds secs ms milliseconds minutes delay duration limit size depth width height max bytes")

// amounts has words in the names of numbers that later variations make large.
var amounts = words("amount price salary budget balance income revenue cost total")

const small = maxOther / 2

// counts reports whether a number is varied by its name.
func counts(name string) bool {
	of := lists.OfName(name)
	return slices.ContainsFunc(of, func(w string) bool { return counted[w] }) && !slices.ContainsFunc(of, func(w string) bool { return telling[w] })
}

// number returns the next number that the schema allows.
func (v *variation) number(name string, schema map[string]any, in any) any {
	was, err := strconv.ParseInt(fmt.Sprint(in), 10, 64)
	if err != nil || schema["enum"] != nil || schema["multipleOf"] != nil || !counts(name) {
		return in
	}
	is := was + 1 + int64(v.n)
	if v.n >= small && slices.ContainsFunc(lists.OfName(name), func(w string) bool { return amounts[w] }) {
		is = was + int64(math.Pow10(2+v.n%6))
	}
	if most, err := strconv.ParseFloat(fmt.Sprint(schema["maximum"]), 64); err == nil && float64(is) > most {
		return in
	}
	v.found = true
	return json.Number(strconv.FormatInt(is, 10))
}
