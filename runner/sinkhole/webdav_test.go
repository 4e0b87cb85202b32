package sinkhole

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// davAsk asks by WebDAV.
func davAsk(method, at, depth, body string) (*httptest.ResponseRecorder, bool) {
	r := httptest.NewRequest(method, "https://dav.example"+at, nil)
	r.Header.Set("Depth", depth)
	w := httptest.NewRecorder()
	return w, webDAV(w, r, []byte(body))
}

// TestWebDAV: a client finds the way from the root to an event.
func TestWebDAV(t *testing.T) {
	const props = `<x:propfind xmlns:x="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><x:prop><x:displayname/><x:resourcetype/><c:calendar-home-set/>` +
		`<x:current-user-principal><x:href/></x:current-user-principal><c:calendar-data/><y xmlns="urn:other"/></x:prop></x:propfind>`
	for name, tc := range map[string]struct {
		method, at, depth, body string
		status                  int
		want                    []string
		lacks                   string
	}{
		"root":           {"PROPFIND", "/", "0", props, 207, []string{"<d:href>/</d:href>", "<d:current-user-principal><d:href>/principals/note/</d:href>"}, "urn:other"},
		"principal":      {"PROPFIND", "/principals/note/", "0", props, 207, []string{"<cal:calendar-home-set><d:href>/calendars/note/</d:href>"}, "cal:calendar/>"},
		"home":           {"PROPFIND", "/calendars/note/", "1", props, 207, []string{"<d:href>/calendars/note/note/</d:href>", "<cal:calendar/>"}, ""},
		"address books":  {"PROPFIND", "/addressbooks/note/", "1", props, 207, []string{"<card:addressbook/>"}, ""},
		"query":          {"REPORT", "/calendars/note/note/", "1", props, 207, []string{"<d:href>/calendars/note/note/note.ics</d:href>", "BEGIN:VEVENT"}, ""},
		"without a body": {"PROPFIND", "/files/a&b/", "1", "", 207, []string{"/files/a&amp;b/note.txt", "<d:collection/>"}, ""},
		"a broken body":  {"PROPFIND", "/", "0", "<prop", 207, []string{"<d:displayname>note"}, ""},
		"a calendar":     {"MKCALENDAR", "/calendars/note/x/", "", "", 201, nil, ""},
		"an event":       {http.MethodPut, "/calendars/note/note/x.ics", "", oneEvent, 201, nil, ""},
		"it goes":        {http.MethodDelete, "/calendars/note/note/x.ics", "", "", 204, nil, ""},
	} {
		w, is := davAsk(tc.method, tc.at, tc.depth, tc.body)
		if !is || w.Code != tc.status {
			t.Errorf("%s: %v, status %d", name, is, w.Code)
		}
		for _, want := range tc.want {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %s in %s", name, want, w.Body)
			}
		}
		if tc.lacks != "" && strings.Contains(w.Body.String(), tc.lacks) {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		if _, is := davAsk(method, "/notes/1", "", ""); is {
			t.Errorf("%s of something else is taken for WebDAV", method)
		}
	}
	for _, first := range []string{"PROPFIND / HTTP/1.1\r\n", "REPORT /c HTTP/1.1\r\n", "MKCALENDAR /c HTTP"} {
		if protocolOf([]byte(first), 8443) == nil {
			t.Errorf("%q is no request", first)
		}
	}
}

// FuzzWebDAV: whatever is asked for, the answer is well-formed.
func FuzzWebDAV(f *testing.F) {
	f.Add("/calendars/<x>/note/", `<d:propfind xmlns:d="DAV:"><d:prop><d:a&b/><d:displayname/></d:prop></d:propfind>`)
	f.Add("/", `<prop xmlns="DAV:"><prop><prop/></prop>`)
	f.Fuzz(func(t *testing.T, at, body string) {
		r := httptest.NewRequest("PROPFIND", "/", nil)
		r.URL.Path = at
		r.Header.Set("Depth", "1")
		tokens := xml.NewDecoder(strings.NewReader(multistatus(r, []byte(body))))
		for {
			if _, err := tokens.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}
