package attack

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// requestForms make a value change the path, the query or the header around it in a request. The first
// changes nothing, and shows the position of honest values.
var requestForms = []form{
	asked("as a name", "!").plainly(),
	asked(`by ".."`, "../../../../../../../!"),
	asked(`by ".." behind the value`, "{}/../../../../../../../../!"),
	asked("as a line of its own in the header", "{}\r\n!: 1"),
	asked("as a query of its own", "{}?!=1"),
	asked("as a parameter of its own", "{}&!=1"),
	asked(`by ".." encoded`, "%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f!"),
	asked(`by ".." before a query`, "../../../../../../../!?"),
	asked("as a line of its own in the header, behind a line feed", "{}\n!: 1"),
	asked("as a member of its own in JSON", `{}","!":"1`),
}

const maxRequestFields = 4 // of one target

var (
	// ofRequest matches names and descriptions of parts of a request that the caller may choose.
	ofRequest = lazyregexp.New(`(?i)\b(?:ur[il]s?|paths?|routes?|endpoints?|quer(?:y|ies) (?:strings?|parameters?)|parameters?|params|headers?|options?|file ?names?|files?)\b`)
	// parted matches values with several parts, or parameters.
	parted = lazyregexp.New(`[\n?&=/]`)
)

// requestSteps returns the attempts of family Request, for targets that use the network.
func requestSteps(fields []field, seen Seen) []step {
	var places []field
	for _, f := range fields {
		if seen.Network && f.text && !f.next && f.variable == "" && !parted.MatchString(f.core()) && !f.speaksOf(ofRequest) && len(places) < maxRequestFields {
			places = append(places, f)
		}
	}
	return formed(Request, requestForms, places)
}

// Asking is a request with a mark that an attempt sent to the sinkhole.
type Asking struct {
	// Target is the path of an HTTP request with its query as sent, or "?" and the form in its body; ""
	// for a line or a member.
	Target string
	// Line is a header line of a request or a mail that begins with a mark.
	Line string
	// Member is the name of a member of a JSON body, if that is a mark.
	Member string
	// Recipient is a recipient of a message, with a mark.
	Recipient string
	Time      time.Time
}

// Askings returns those in the head of a message by HTTP or SMTP; request is the request line.
func Askings(protocol, request string, sent []byte, at time.Time) (all []Asking) {
	if words := strings.Fields(request); strings.HasPrefix(protocol, "http") && len(words) == 3 && len(inputs.Marks([]byte(words[1]))) > 0 {
		all = append(all, Asking{Target: words[1], Time: at})
	}
	if protocol == "smtp" {
		for line := range strings.SplitSeq(string(sent), "\n") {
			if found := recipientLine.FindStringSubmatch(line); found != nil && len(inputs.Marks([]byte(found[1]))) > 0 {
				all = append(all, Asking{Recipient: found[1], Time: at})
			}
		}
	}
	head, _, _ := strings.Cut(strings.ReplaceAll(string(sent), "\r\n", "\n"), "\n\n")
	if protocol == "smtp" || strings.HasPrefix(protocol, "http") {
		for line := range strings.SplitSeq(head, "\n") {
			if name, value, _ := strings.Cut(line, ": "); value == "1" && len(inputs.Marks([]byte(name))) == 1 && strings.HasPrefix(name, inputs.Word) {
				all = append(all, Asking{Line: line, Time: at})
			}
		}
	}
	return all
}

// Askings returns those in the body.
func (s Sent) Askings(at time.Time) (all []Asking) {
	recipient := func(name, text string) {
		if recipientName.MatchString(name) && len(inputs.Marks([]byte(text))) > 0 {
			all = append(all, Asking{Recipient: text, Time: at})
		}
	}
	if s.isForm() {
		form, _ := url.ParseQuery(string(s.Body)) // the part that can be parsed
		for _, name := range slices.Sorted(maps.Keys(form)) {
			recipient(name, strings.Join(form[name], ","))
		}
		return append(all, Asking{Target: "?" + string(s.Body), Time: at})
	}
	eachMember(inputs.Decode(s.Body), "", 0, func(name, text string) {
		recipient(name, text)
		if marks := inputs.Marks([]byte(name)); len(marks) == 1 && marks[0] == name {
			all = append(all, Asking{Member: name, Time: at})
		}
	})
	return all
}

// Changes reports whether the value of an attempt changed more than its part of a request: its mark is
// the name of a parameter or a member of JSON, or a header line, or it is above the position of plain values in a path.
func (q Asking) Changes(mark string, plain []Asking, plainMark string) bool {
	if q.Line != "" {
		return strings.HasPrefix(q.Line, mark+":")
	}
	if q.Member != "" {
		return q.Member == mark
	}
	target, query, _ := strings.Cut(q.Target, "?")
	if parameters, err := url.ParseQuery(query); err == nil && len(parameters[mark]) > 0 {
		return parameters[mark][0] == "1" || strings.HasPrefix(parameters[mark][0], "1/") || strings.HasPrefix(parameters[mark][0], "1?")
	}
	if !strings.Contains(target, "/"+mark) {
		return false
	}
	for _, each := range plain {
		way, _, _ := strings.Cut(each.Target, "?")
		above, _, found := strings.Cut(way, "/"+plainMark)
		if found && above != "" && !strings.HasPrefix(path.Clean(strings.NewReplacer("%2e", ".", "%2E", ".").Replace(target)), above+"/") {
			return true
		}
	}
	return false
}
