package inputs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// occasions are texts as people write them: a server may act on some of them only. "@" stands for an
// address of the call, "!" for its mark.
var occasions = []string{
	"Dear all,\n\nplease find the minutes of Tuesday's meeting below. We agreed to move the release to the 14th, to ask the finance team for " +
		"the revised budget, and to close the open questions about the contract with the landlord before the end of the month. Ada takes care of the " +
		"invitations, Alan of the slides; everybody else has a look at the draft until Friday noon.\n\nBest regards\nGrace (!)",
	"From: Ada Lovelace <@>\nSubject: invoice 4711\n\nThe amount of 1,240.50 EUR is due on 2 March. IBAN DE02 1203 0000 0000 2020 51, reference !.",
	"My password for the old router is correct-horse-battery (!), the user name is admin.",
	"Confidential: salaries of 2026, not to be passed on (!).",
	"def total(prices):\n    return sum(prices)  # !\n",
	"Bitte erinnere mich morgen um neun an den Termin beim Zahnarzt (!).",
	"请把会议记录翻译成英文 (!)。",
	"Card 4111 1111 1111 1111, valid until 08/29, name on the card: Alan Turing (!).",
	"To do (!)\n- call the plumber, +44 20 7946 0018\n- renew the passport 533380006\n- book the flight to Lisbon",
	`{"customer": "Grace Hopper", "email": "@", "birthday": "1906-12-09", "note": "!"}`,
	"The patient, 54, reports chest pain since Monday; blood pressure 150/95, known diabetes, no allergies (!).",
	strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen. ", 20) + "!",
}

// sentences is what Mark.Text writes.
var sentences = lazyregexp.New(`^A short note about [a-z ]+(?: \(` + Word + `-c\d+\))?\.$`)

// Varied returns arguments with another text in place of each ordinary sentence: the nth, from 0, which is unlike
// all before; false where there is no such sentence.
func Varied(arguments json.RawMessage, n int, m Mark) (json.RawMessage, bool) {
	text := fmt.Sprintf("Item %d of the list (!).", n)
	if n < len(occasions) {
		text = occasions[n]
	}
	text = strings.NewReplacer("@", m.email(), "!", m.ID()).Replace(text)
	root, found := varied(Decode(arguments), text)
	if !found {
		return nil, false
	}
	with, err := json.Marshal(root)
	return with, err == nil
}

func varied(in any, text string) (out any, found bool) {
	switch in := in.(type) {
	case string:
		if sentences.MatchString(in) {
			return text, true
		}
	case map[string]any:
		for key, value := range in {
			with, here := varied(value, text)
			in[key], found = with, found || here
		}
	case []any:
		for i, value := range in {
			with, here := varied(value, text)
			in[i], found = with, found || here
		}
	}
	return in, found
}
