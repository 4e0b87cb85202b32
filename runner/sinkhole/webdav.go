package sinkhole

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// davMethods are those of WebDAV and CalDAV (RFC 4918, 9; RFC 3253, 3.6; RFC 4791, 5.3.1; RFC
// 5323, 2) that no other service has. Those that answer with more than a status are asked for
// properties.
var davMethods = []string{"PROPFIND", "REPORT", "PROPPATCH", "SEARCH", "MKCOL", "MKCALENDAR", "COPY", "MOVE", "LOCK", "UNLOCK"}

// davBeginnings returns the first bytes of requests with these methods.
func davBeginnings() (all [][]byte) {
	for _, m := range davMethods {
		all = append(all, []byte(m+" "))
	}
	return all
}

// davPrefixes maps the namespaces of properties to their prefixes in answers.
var davPrefixes = map[string]string{
	"DAV:": "d", "urn:ietf:params:xml:ns:caldav": "cal", "urn:ietf:params:xml:ns:carddav": "card",
	"http://calendarserver.org/ns/": "cs", "http://apple.com/ns/ical/": "ical", "http://owncloud.org/ns": "oc",
}

// File extensions and contents of entries in calendars and address books.
const (
	calendarEntry = ".ics"
	bookEntry     = ".vcf"
	oneEvent      = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//note//note//EN\r\nBEGIN:VEVENT\r\nUID:note\r\nDTSTAMP:20240101T000000Z\r\n" +
		"DTSTART:20240101T000000Z\r\nDTEND:20240101T010000Z\r\nSUMMARY:note\r\nDESCRIPTION:note\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	oneCard = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:note\r\nFN:note\r\nN:note;;;;\r\nEMAIL:note@example.com\r\nEND:VCARD\r\n"
)

// davValues are the values of properties that are the same everywhere, in XML.
var davValues = map[string]string{
	"current-user-principal": "<d:href>/principals/note/</d:href>", "principal-URL": "<d:href>/principals/note/</d:href>", "owner": "<d:href>/principals/note/</d:href>",
	"calendar-home-set": "<d:href>/calendars/note/</d:href>", "addressbook-home-set": "<d:href>/addressbooks/note/</d:href>",
	"principal-collection-set": "<d:href>/principals/</d:href>", "calendar-user-address-set": "<d:href>mailto:note@example.com</d:href>",
	"supported-calendar-component-set": `<cal:comp name="VEVENT"/><cal:comp name="VTODO"/>`,
	"supported-report-set":             "<d:supported-report><d:report><cal:calendar-query/></d:report></d:supported-report>",
	"current-user-privilege-set":       "<d:privilege><d:all/></d:privilege>",
	"displayname":                      "note", "getetag": `"note"`, "getctag": "note", "sync-token": "note", "getcontentlength": "1",
	"getlastmodified": "Mon, 01 Jan 2024 00:00:00 GMT", "creationdate": moment, "calendar-color": "#336699",
	"calendar-data": oneEvent, "address-data": oneCard,
}

// webDAV answers a request of WebDAV, CalDAV or CardDAV; false where it is none.
func webDAV(w http.ResponseWriter, r *http.Request, sent []byte) bool {
	entry := slices.Contains([]string{calendarEntry, bookEntry}, path.Ext(r.URL.Path))
	switch {
	case r.Method == "PROPFIND", r.Method == "REPORT", r.Method == "PROPPATCH", r.Method == "SEARCH":
		body := multistatus(r, sent)
		w.Header().Set("Content-Type", asXML.kind)
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, body) // the client may be gone
	case entry && r.Method == http.MethodPut, slices.Contains(davMethods, r.Method):
		w.Header().Set("ETag", `"note"`)
		w.WriteHeader(http.StatusCreated)
	case entry && r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}

// multistatus returns the requested properties of a resource, of its one member, or of
// both.
func multistatus(r *http.Request, sent []byte) string {
	asked, depth := davProperties(sent), r.Header.Get("Depth")
	if len(asked) == 0 {
		asked = []xml.Name{{Space: "DAV:", Local: "resourcetype"}, {Space: "DAV:", Local: "displayname"}, {Space: "DAV:", Local: "getetag"}}
	}
	at := []string{r.URL.Path}
	below := strings.TrimSuffix(r.URL.Path, "/") + "/" + davChild(r)
	switch {
	case r.Method == "REPORT" || r.Method == "SEARCH":
		at = []string{below}
	case depth == "1" || depth == "infinity":
		at = append(at, below)
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<d:multistatus")
	for _, space := range slices.Sorted(maps.Keys(davPrefixes)) {
		fmt.Fprintf(&b, ` xmlns:%s="%s"`, davPrefixes[space], space)
	}
	b.WriteString(">")
	for _, href := range at {
		b.WriteString("<d:response><d:href>" + escaped(href) + "</d:href><d:propstat><d:prop>")
		for _, p := range asked {
			name := davPrefixes[p.Space] + ":" + p.Local
			fmt.Fprintf(&b, "<%s>%s</%s>", name, davValue(p.Local, href), name)
		}
		b.WriteString("</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")
	}
	b.WriteString("</d:multistatus>\n")
	return b.String()
}

// davChild names the one member of a resource: a calendar or address book in its home, an entry in one, or a file.
func davChild(r *http.Request) string {
	kind, parts := davKind(r.URL.Path), strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) == 2 && (parts[0] == "calendars" || parts[0] == "addressbooks"):
		return "note/"
	case kind == "<card:addressbook/>":
		return "note" + bookEntry
	case kind == "<cal:calendar/>" || r.Method == "REPORT":
		return "note" + calendarEntry
	}
	return "note.txt"
}

// davKind returns the additional type of a collection in XML; "" for an ordinary one.
func davKind(at string) string {
	switch parts := strings.Split(strings.Trim(at, "/"), "/"); {
	case len(parts) < 3:
		return ""
	case parts[0] == "calendars":
		return "<cal:calendar/>"
	case parts[0] == "addressbooks":
		return "<card:addressbook/>"
	}
	return ""
}

// davValue returns the value of a property in XML; "" if it has none.
func davValue(name, of string) string {
	switch {
	case name == "resourcetype" && strings.HasSuffix(of, "/"):
		return "<d:collection/>" + davKind(of)
	case name == "resourcetype":
		return ""
	case name == "getcontenttype" && path.Ext(of) == calendarEntry:
		return "text/calendar"
	case name == "getcontenttype":
		return "text/plain"
	}
	return davValues[name]
}

// davProperties returns the requested properties: the children of elements "prop".
func davProperties(sent []byte) (asked []xml.Name) {
	tokens := xml.NewDecoder(bytes.NewReader(sent))
	depth, in := 0, 0
	for len(asked) < maxPerKind {
		token, err := tokens.Token()
		if err != nil {
			return asked
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			switch {
			case in == 0 && token.Name == xml.Name{Space: "DAV:", Local: "prop"}:
				in = depth
			case in > 0 && depth == in+1 && davPrefixes[token.Name.Space] != "" && name.MatchString(token.Name.Local):
				asked = append(asked, token.Name)
			}
		case xml.EndElement:
			if depth == in {
				in = 0
			}
			depth--
		}
	}
	return asked
}

// escaped escapes a text for XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
