package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tickets is a server that shows its poison only to whom has read its answers.
type tickets struct{ created map[string]bool }

var ticketTools = map[string]string{
	"list_tickets":   `{"type":"object","properties":{"state":{"type":"string","enum":["open","closed"]}}}`,
	"get_ticket":     `{"type":"object","properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`,
	"service_status": `{"type":"object","properties":{"service":{"type":"string","description":"Name of the service"}},"required":["service"]}`,
	"create_note":    `{"type":"object","properties":{"title":{"type":"string"},"text":{"type":"string"}},"required":["title","text"]}`,
	"read_note":      `{"type":"object","properties":{"noteTitle":{"type":"string"}},"required":["noteTitle"]}`,
}

func (s *tickets) call(tool string, arguments json.RawMessage) (text string, ok bool) {
	var a struct{ TicketID, Service, Title, NoteTitle string }
	_ = json.Unmarshal([]byte(strings.ReplaceAll(string(arguments), "ticket_id", "ticketId")), &a)
	switch tool {
	case "list_tickets":
		return `{"tickets":[{"id":"TICK-1","title":"Door"},{"id":"TICK-2","title":"Lamp"},{"id":"TICK-3","title":"Roof"}],"total":3}`, true
	case "get_ticket":
		switch a.TicketID {
		case "TICK-3":
			return "poison of the ticket", true
		case "TICK-1", "TICK-2":
			return "Nothing to do.", true
		}
		return fmt.Sprintf("Ticket %s not found", a.TicketID), false
	case "service_status":
		switch a.Service {
		case "auth":
			return "poison of the service", true
		case "billing", "search":
			return "up", true
		}
		return fmt.Sprintf("Unknown service '%s'. Available: billing, search, auth", a.Service), false
	case "create_note":
		s.created[a.Title] = true
		return "Saved.", true
	default:
		if s.created[a.NoteTitle] {
			return "poison of the note", true
		}
		return "no such note", false
	}
}

// session drives forms and a pool until nothing new comes of it, and returns the
// origins of the first call that each text came of.
func (s *tickets) session(t *testing.T, seed int64) (reached map[string][]string, calls int) {
	t.Helper()
	pool, forms, reached := NewPool(), map[string]*Form{}, map[string][]string{}
	names := []string{"create_note", "get_ticket", "list_tickets", "read_note", "service_status"}
	for _, name := range names {
		forms[name] = NewForm(json.RawMessage(ticketTools[name]), Options{About: name, Seed: seed})
	}
	for again := true; again; {
		again = false
		for _, name := range names {
			for c, ok := forms[name].Next(pool, Mark{Seed: seed, Call: calls + 1}); ok; c, ok = forms[name].Next(pool, Mark{Seed: seed, Call: calls + 1}) {
				again = true
				if calls++; calls > 200 {
					t.Fatalf("no end: %s %s", name, c.Arguments)
				}
				text, accepted := s.call(name, c.Arguments)
				forms[name].Answered(c, accepted)
				var origins []string
				for _, o := range c.Origins {
					origins = append(origins, o.String())
				}
				if _, known := reached[text]; !known {
					reached[text] = origins
				}
				t.Logf("%d %s %s %s %q: %s", calls, name, c.Shape, c.Arguments, origins, text)
				if !accepted {
					pool.Error("tool "+name, text, Case{})
					continue
				}
				result, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
				pool.Result("tool "+name, result)
				pool.Taken("tool "+name, c.Arguments)
			}
		}
	}
	return reached, calls
}

func TestHarvestReachesWhatAnswersLeadTo(t *testing.T) {
	s := &tickets{created: map[string]bool{}}
	reached, calls := s.session(t, 1)
	for text, want := range map[string]string{
		"poison of the ticket":  `ticket_id "TICK-3" from the result of tool list_tickets`,
		"poison of the service": `service "auth" from an error of tool service_status`,
		"poison of the note":    `from the arguments of tool create_note`,
	} {
		origins, ok := reached[text]
		if !ok || !slices.ContainsFunc(origins, func(o string) bool { return strings.HasSuffix(o, want) }) {
			t.Errorf("%s: reached %v by %q, want %q", text, ok, origins, want)
		}
	}
	if calls > 60 {
		t.Errorf("%d calls", calls)
	}
	again := &tickets{created: map[string]bool{}}
	if _, n := again.session(t, 1); n != calls {
		t.Errorf("%d calls, then %d", calls, n)
	}
}

// Values of one object are handed in together, though each was tried before.
func TestHarvestKeepsTogetherWhatBelongsTogether(t *testing.T) {
	pool := tell(t, "text tool list_tickets: The tickets: TICK-1, TICK-2, TICK-3", `text tool list_repos: [{"owner":"ann","repo":"one"},{"owner":"ann","repo":"two"},{"owner":"bob","repo":"three"},{"owner":"ann","repo":"four"}]`,
		`text tool list_issues: {"project":"apollo","issues":[{"issue":"A-1"},{"issue":"A-2"}]}`,
		`text tool list_issues: {"project":"gemini","issues":[{"issue":"G-1"}]}`)
	for schema, want := range map[string][]string{
		`{"properties":{"owner":{"type":"string"},"repo":{"type":"string"}},"required":["owner","repo"]}`: {
			`{"owner":"ann","repo":"one"}`, `{"owner":"ann","repo":"two"}`, `{"owner":"bob","repo":"three"}`, `{"owner":"ann","repo":"four"}`},
		`{"properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`: { // from one text
			`{"ticket_id":"TICK-1"}`, `{"ticket_id":"TICK-2"}`, `{"ticket_id":"TICK-3"}`},
		`{"properties":{"issue":{"type":"string"},"project":{"type":"string"}},"required":["issue","project"]}`: {
			`{"issue":"A-1","project":"apollo"}`, `{"issue":"A-2","project":"apollo"}`, `{"issue":"G-1","project":"gemini"}`},
	} {
		var got []string
		for _, c := range run(t, NewForm(json.RawMessage(schema), Options{About: "get_info"}), pool) {
			if c.Shape != ShapeInvalid {
				got = append(got, string(c.Arguments))
			}
		}
		for _, each := range want {
			if !slices.Contains(got, each) {
				t.Errorf("%s: not %s, but %s", schema, each, got)
			}
		}
	}
}
