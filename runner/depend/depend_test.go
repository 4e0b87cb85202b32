package depend_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

// way is how all pieces here left.
var way = depend.Way{
	Where:   ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "t"}},
	Channel: "HTTP", Destination: "x.example:80",
}

// record is a launch in which some texts left.
func record(texts ...string) *depend.Record {
	r := &depend.Record{}
	for _, text := range texts {
		r.Add(depend.Piece{Way: way, Data: []byte(text)})
	}
	return r
}

// blank writes the bits of a text as spaces and tabs.
func blank(text string) string {
	bits := ""
	for _, c := range []byte(text) {
		bits += fmt.Sprintf("%08b", c)
	}
	return "all symbols: " + strings.Repeat(strings.NewReplacer("0", " ", "1", "\t").Replace("0100110111000101"), 40) + strings.NewReplacer("0", " ", "1", "\t").Replace(bits)
}

// numbers is a launch with some sizes.
func numbers(all ...int) *depend.Record {
	r := &depend.Record{}
	for _, n := range all {
		r.Number(depend.Piece{Way: way}, "size", n)
	}
	return r
}

// pieces is a launch in which some texts left one after the other, each so many milliseconds after the one before.
func pieces(texts string, pauses ...int) *depend.Record {
	r, at := &depend.Record{}, time.Unix(1, 0)
	for i, text := range strings.Fields(texts) {
		if i > 0 && len(pauses) > 0 {
			at = at.Add(time.Duration(pauses[(i-1)%len(pauses)]) * time.Millisecond)
		}
		p := depend.Piece{Way: way, Data: []byte(text), Time: at}
		r.Add(p)
		r.Follow(p)
	}
	return r
}

func noise() string { return fmt.Sprintf("%x", random(16)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// four are the records of launches, the first and the last with the same secrets.
func suspects(first, second, third, fourth *depend.Record) []depend.Suspect {
	return depend.Suspects([]*depend.Record{first, fourth}, []*depend.Record{second, third})
}

// answers is a launch in which each of some texts was the answer to a call; a dot before one is a message before that.
func answers(texts string) *depend.Record {
	r := &depend.Record{}
	for _, text := range strings.Fields(texts) {
		p := depend.Piece{Way: way, Data: []byte("step")}
		for ; text[0] == '.'; text = text[1:] {
			r.Turn(p, false)
		}
		p.Data = []byte(text)
		r.Turn(p, true)
	}
	return r
}

// delays is a launch in which calls were answered the same after so many milliseconds each.
func delays(all ...int) *depend.Record {
	r := &depend.Record{}
	for _, ms := range all {
		p := depend.Piece{Way: way, Data: []byte("done")}
		r.Delay(p, time.Duration(ms)*time.Millisecond)
		r.Turn(p, true)
	}
	return r
}

const nine = "a a a a a a a a a"

// The pieces of four calls in one order, and in another.
var order, another = strings.Repeat("a b c d e f g h ", 4), strings.Repeat("b a d c f e h g ", 4)

func TestDependence(t *testing.T) {
	around := func(text string) *depend.Record {
		return record("GET / HTTP/1.1\r\nid: " + noise() + "; " + text + "; time")
	}
	for name, got := range map[string][]depend.Suspect{
		"a text":           suspects(around("8AU1HYgBk"), around("vY9vgDqru"), around("vY9vgDqru"), around("8AU1HYgBk")),
		"a whole piece":    suspects(record("q7Rk"), record("8xVd"), record("8xVd"), record("q7Rk")),
		"spaces and tabs":  suspects(record(blank("q7Rk2mZp")), record(blank("8xVdLw4c")), record(blank("8xVdLw4c")), record(blank("q7Rk2mZp"))),
		"several pieces":   suspects(record("a", "one=17", "two=94"), record("a", "one=38", "two=52"), record("two=52", "one=38"), record("two=94", "one=17")),
		"sizes":            suspects(numbers(3, 9, 1, 7, 7), numbers(4, 2, 8, 6, 5), numbers(2, 4, 5, 6, 8), numbers(9, 3, 7, 1, 7)),
		"how often a size": suspects(numbers(7, 7, 7, 7, 7, 1), numbers(1, 1, 1, 1, 1, 7), numbers(1, 1, 1, 1, 1, 7), numbers(7, 7, 7, 7, 7, 1)),
		"pauses":           suspects(pieces(nine, 60, 200, 60, 500), pieces(nine, 500, 60, 200, 60), pieces(nine, 490, 61, 205, 62), pieces(nine, 61, 201, 62, 495)),
		"delays": suspects(delays(250, 3, 250, 3, 3, 250, 250, 3, 250, 3, 250, 3), delays(4, 251, 4, 255, 252, 4, 4, 260, 4, 252, 4, 252),
			delays(5, 255, 3, 252, 250, 3, 3, 250, 3, 255, 3, 250), delays(262, 4, 258, 4, 4, 252, 255, 4, 250, 4, 251, 4)),
		"a choice":          suspects(answers(order[:18]), answers(another[:18]), answers(another[:18]), answers(order[:18])),
		"messages":          suspects(answers(".a ..a a a .a ..a"), answers("..a .a .a ..a a a"), answers("..a .a .a ..a a a"), answers(".a ..a a a .a ..a")),
		"an order":          suspects(pieces(order), pieces(another), pieces(another), pieces(order)),
		"at another length": suspects(around("id=8AU1HYgBkQQzW"), around("id=vY9vgDqr"), around("id=vY9vgDqr"), around("id=8AU1HYgBkQQzW")),
	} {
		if len(got) != 1 || got[0].Way != way || got[0].With == "" || got[0].Without == "" || got[0].With == got[0].Without {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNoDependence(t *testing.T) {
	for name, got := range map[string][]depend.Suspect{
		"the same":        suspects(record("12345678"), record("12345678"), record("12345678"), record("12345678")),
		"random":          suspects(record(noise()), record(noise()), record(noise()), record(noise())),
		"a clock":         suspects(record("10:59:58.123"), record("10:59:59.321"), record("11:00:00.456"), record("11:00:01.654")),
		"a minute":        suspects(record("at 10:59 h"), record("at 11:00 h"), record("at 11:00 h"), record("at 11:01 h")),
		"a toggle":        suspects(record("it is switched on"), record("it is switched off"), record("it is switched on"), record("it is switched off")),
		"a counter":       suspects(record("call number 1041"), record("call number 1042"), record("call number 1043"), record("call number 1044")),
		"a duration":      suspects(record("took 31 ms"), record("took 29 ms"), record("took 29 ms"), record("took 31 ms")),
		"pauses by load":  suspects(pieces(nine, 60, 62), pieces(nine, 120, 125), pieces(nine, 61, 130), pieces(nine, 122, 64)),
		"delays by load":  suspects(delays(250, 3, 90, 3, 3, 250, 250, 3), delays(4, 251, 4, 255, 270, 4, 4, 260), delays(90, 4, 3, 252, 3, 3, 250, 3), delays(3, 95, 258, 4, 4, 252, 3, 100)),
		"short delays":    suspects(delays(50, 3, 50, 3, 50, 3, 50, 3, 50, 3), delays(3, 50, 3, 50, 3, 50, 3, 50, 3, 50), delays(3, 50, 3, 50, 3, 50, 3, 50, 3, 50), delays(50, 3, 50, 3, 50, 3, 50, 3, 50, 3)),
		"few delays":      suspects(delays(250, 3, 250, 3), delays(3, 250, 3, 250), delays(3, 250, 3, 250), delays(250, 3, 250, 3)),
		"short pauses":    suspects(pieces(nine, 1, 9), pieces(nine, 9, 1), pieces(nine, 9, 2), pieces(nine, 2, 9)),
		"a race of eight": suspects(pieces(order[:16]), pieces(another[:16]), pieces(another[:16]), pieces(order[:16])),
		"another message": suspects(answers(nine), answers("."+nine), answers("."+nine), answers(nine)),
		"few choices":     suspects(answers(order[:14]), answers(another[:14]), answers(another[:14]), answers(order[:14])),
		"another order":   suspects(record("first piece", "second piece"), record("second piece", "first piece"), record("second piece", "first piece"), record("first piece", "second piece")),
		"three sizes":     suspects(numbers(1, 2, 3), numbers(4, 5, 6), numbers(4, 5, 6), numbers(1, 2, 3)),
		"only in others":  suspects(record("a"), record("a", "an error of the network"), record("a", "an error of the network"), record("a")),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A suspect is recognised where it is among much else.
func TestSuspectIn(t *testing.T) {
	one, other := record("sum: 8AU1HYgBkQQz"), record("sum: vY9vgDqruJJx")
	s := suspects(one, other, other, one)[0]
	if !s.In(record(noise(), "and sum: 8AU1HYgBkQQz", noise())) || s.In(record(noise(), "sum: zzzzzzzzzzzz")) {
		t.Error("it is not told apart")
	}
}

func TestNoise(t *testing.T) {
	got := depend.NoiseOf(record("body: "+string(random(64))), record("body: "+string(random(64))))
	if len(got) != 1 || got[0].Size < 60 || got[0].Size > 64 || got[0].Bits < 4.5 {
		t.Errorf("random bytes: %+v", got)
	}
	for name, pair := range map[string][2]string{
		"a time":     {"at 2026-11-25T04:10:11.123Z", "at 2026-11-25T04:10:16.654Z"},
		"an id":      {"id 1f0e3dad", "id 9fa76f12"},
		"a long row": {strings.Repeat("a", 64), strings.Repeat("b", 64)},
		"the same":   {string(make([]byte, 64)), string(make([]byte, 64))},
	} {
		if got := depend.NoiseOf(record(pair[0]), record(pair[1])); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A sealed token is longer than what programs draw for each request.
func TestLongNoise(t *testing.T) {
	for name, tc := range map[string]struct {
		draw func() string
		long bool
	}{
		"an id and a trace":   {func() string { b := random(24); return fmt.Sprintf("id %x-%x end", b[:16], b[16:]) }, false},
		"a sum of 32 bytes":   {func() string { return fmt.Sprintf("sum %x end", random(32)) }, false},
		"a nonce and a token": {func() string { return "t " + base64.StdEncoding.EncodeToString(random(52)) }, true},
		"the same in digits":  {func() string { return fmt.Sprintf("t %x", random(52)) }, true},
	} {
		for _, n := range depend.NoiseOf(record(tc.draw()), record(tc.draw())) {
			if n.Long != tc.long {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
}

// A client that opens an address sends what is in it.
func TestLinkedNoise(t *testing.T) {
	token := func(n int) string { return base64.RawURLEncoding.EncodeToString(random(n)) }
	for name, tc := range map[string]struct {
		draw   func() string
		linked bool
	}{
		"a picture":             {func() string { return "Sunny ![map](https://maps.example/t.png?d=" + token(52) + ")" }, true},
		"a path":                {func() string { return `{"url":"https://maps.example/d/` + token(52) + `"}` }, true},
		"a token beside a link": {func() string { return "See https://maps.example/ and use " + token(52) + " there" }, false},
		"a signature":           {func() string { return fmt.Sprintf("https://files.example/r.pdf?sig=%x&v=1", random(32)) }, false},
		"a state and a challenge": {func() string {
			return "https://login.example/?state=" + token(16) + "&code_challenge=" + token(32) + "&x=1"
		}, false},
	} {
		for _, n := range depend.NoiseOf(record(tc.draw()), record(tc.draw())) {
			if n.Linked != tc.linked {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
}

// Whatever a server sends, a record is bounded.
func TestRecordIsBounded(t *testing.T) {
	r, long := &depend.Record{}, record("x")
	for range 100 {
		r.Add(depend.Piece{Way: depend.Way{Channel: leak.Stderr}, Data: random(64 << 10)})
	}
	if got := depend.NoiseOf(r, long); len(got) != 1 || got[0].Size > 512<<10 {
		t.Errorf("%d", len(got))
	}
}
