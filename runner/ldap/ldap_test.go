package ldap

import (
	"bytes"
	"slices"
	"testing"
)

// of encodes a search by a filter.
func of(filter []byte) []byte {
	number, yes := element(integer, []byte{0}), element(0x01, []byte{0})
	request := element(search, element(octets, []byte("dc=example")), element(enumerated, []byte{2}), element(enumerated, []byte{0}), number, number, yes, filter, element(sequence))
	return element(sequence, element(integer, []byte{7}), request)
}

func equals(name, value string) []byte {
	return element(equal, element(octets, []byte(name)), element(octets, []byte(value)))
}

var binding = element(sequence, element(integer, []byte{7}), element(bind, element(integer, []byte{3}), element(octets), element(0x80)))

// TestReply: a client gets in and finds one person; one that says goodbye gets no answer.
func TestReply(t *testing.T) {
	if got := Reply(binding); !bytes.Equal(got[6:], append(element(integer, []byte{7}), element(0x61, element(enumerated, []byte{0}), element(octets), element(octets))...)) {
		t.Errorf("%x", got)
	}
	got := Reply(of(equals("uid", "x")))
	if _, first, rest, ok := next(got); !ok || first[7] != entry || !bytes.Contains(first, []byte("mail")) || rest[6+7] != results {
		t.Errorf("%x", got)
	}
	if got := Reply(element(sequence, element(integer, []byte{7}), element(0x42))); len(got) > 0 {
		t.Errorf("an answer to a goodbye: %x", got)
	}
}

// TestBegins: a short length is written in one byte, or in more.
func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{
		string(binding): true, "\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00": true,
		"GET / HTTP/1.1\r\n": false, "\x30": false, "0123456789": false, "\x30\x84\xff\xff\xff\xff\x02\x01\x01\x60": false,
	} {
		if got := Begins([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestTested: a mark counts where it names an attribute, and not in a value.
func TestTested(t *testing.T) {
	marked := equals("marlow-c7", "1")
	for name, tc := range map[string]struct {
		filter []byte
		found  bool
	}{
		"the filter":   {marked, true},
		"a part of it": {element(and, equals("uid", "x"), element(not, element(or, marked))), true},
		"present":      {element(present, []byte("marlow-c7")), true},
		"a value":      {equals("uid", "marlow-c7"), false},
		"escaped":      {equals("uid", "x)(marlow-c7=1"), false},
		"a longer one": {equals("x-marlow-c7", "1"), false},
	} {
		var want []string
		if tc.found {
			want = []string{"marlow-c7"}
		}
		if got := Tested(append(slices.Clone(binding), of(tc.filter)...)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// FuzzMessages: no bytes make the readers fail, and what is answered is a message.
func FuzzMessages(f *testing.F) {
	f.Add(binding)
	f.Add(of(element(and, equals("uid", "x"), element(present, []byte("marlow-c7")))))
	f.Add([]byte("\x30\x84\x00\x00\x00\x05\x02\x01\x01\x42\x00"))
	f.Add([]byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if size := Size(data); size < 0 || size > maxMessage+Header {
			t.Errorf("a message of %d bytes", size)
		}
		_, _ = Begins(data), Tested(data)
		if answer := Reply(data); len(answer) > 0 && Size(answer) == 0 && len(data) < maxMessage {
			t.Errorf("%x is answered with %x", data, answer)
		}
	})
}
