package sinkhole

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// The bounds of one HTTP request.
const (
	maxHeader      = 64 << 10 // bytes
	requestTimeout = time.Minute
	idleTimeout    = 20 * time.Second
	// maxStreams is how many requests a connection of HTTP/2 has at a time.
	maxStreams = 16
	// maxUpload is the flow-control window for their bodies, in bytes.
	maxUpload = 64 << 10
	// bodyTimeout is how long the next piece of a body may take.
	bodyTimeout = 5 * time.Second
)

// http serves one connection. It records the raw bytes: what is no request is evidence,
// too.
func (t *conversation) http() {
	if first, _ := t.in.Peek(3); string(first) == "PRI" {
		t.http2()
		return
	}
	t.flow.describe(t.webProtocol(), "", "")
	_ = t.conn.SetDeadline(time.Time{}) // the deadlines are the HTTP server's now
	one := &single{conn: &closing{Conn: &tapped{Conn: t.conn, flow: t.flow}, closed: make(chan struct{})}}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var sent limited
			read(w, r, &sent)
			t.requested(t.flow, r)
			t.flow.part()
			t.answer(w, r, sent.Bytes())
		}),
		ReadHeaderTimeout: patience, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: silent,
	}
	_ = server.Serve(one) // ends with the connection
}

// http2 serves one connection of HTTP/2. On the wire requests are compressed and
// interleaved: each is recorded by itself, as text.
func (t *conversation) http2() {
	t.flow.describe(t.webProtocol(), "", "")
	_ = t.conn.SetDeadline(time.Time{}) // the deadlines are the HTTP server's now
	server := &http2.Server{
		MaxConcurrentStreams: maxStreams, IdleTimeout: idleTimeout, ReadIdleTimeout: idleTimeout,
		MaxUploadBufferPerConnection: maxUpload, MaxUploadBufferPerStream: maxUpload,
	}
	server.ServeConn(t.conn, &http2.ServeConnOpts{
		BaseConfig: &http.Server{ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, MaxHeaderBytes: maxHeader, ErrorLog: silent},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f := t.flow.branch()
			if head, err := httputil.DumpRequest(r, false); err == nil {
				_, _ = f.Write(head)
			}
			t.requested(f, r)
			var sent limited
			read(w, r, io.MultiWriter(f, &sent))
			f.end()
			t.answer(w, r, sent.Bytes())
		}),
	})
}

// read reads a body as far as it comes: the request is answered even if the body breaks
// off, or the client waits for the answer first.
func read(w http.ResponseWriter, r *http.Request, to io.Writer) {
	control, buffer := http.NewResponseController(w), make([]byte, 4096)
	for {
		if control.SetReadDeadline(time.Now().Add(bodyTimeout)) != nil {
			return
		}
		n, err := r.Body.Read(buffer)
		_, _ = to.Write(buffer[:n]) // a flow takes everything
		if err != nil {
			return
		}
	}
}

// tapped is a connection all of whose received bytes go to a flow.
type tapped struct {
	net.Conn
	flow *flow
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	_, _ = t.flow.Write(p[:n])
	return n, err
}

func (t *conversation) webProtocol() string {
	if t.secure {
		return "https"
	}
	return "http"
}

// requested describes the part that ends here.
func (t *conversation) requested(f *flow, r *http.Request) {
	f.describe("", t.named(r), r.Method+" "+r.URL.RequestURI()+" "+r.Proto)
}

// named returns the name of the host that a request is for; "" for an address.
func (t *conversation) named(r *http.Request) string {
	if t.host != "" {
		return t.host // of the handshake: a client verifies that one
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// answer answers a request with body sent as an ordinary service would.
func (t *conversation) answer(w http.ResponseWriter, r *http.Request, sent []byte) {
	w.Header().Set("Date", t.server.config.now().UTC().Format(http.TimeFormat))
	names := t.server.config.Names
	at := names.In(r.URL.Path)
	if name, called := inputs.CalledAt(at); called {
		w.Header().Set("Content-Disposition", `attachment; filename="`+names.Out(name)+`"`)
	}
	led, leads := inputs.LedTo(names.In(strings.ToLower(t.named(r))), at)
	switch {
	case leads:
		to := led.String()
		if led.Port() == 0 {
			to = led.Addr().String()
		}
		http.Redirect(w, r, t.webProtocol()+"://"+to+"/", http.StatusFound)
	case r.Method == http.MethodConnect && r.ProtoMajor == 1:
		t.tunnel(w, r)
	case upgrades(r):
		t.webSocket(w, r)
	case r.Header.Get("Upgrade") != "":
		http.Error(w, "Upgrades are not available.", http.StatusForbidden)
	case isMetadata(t.to.Addr(), r.Host):
		metadata(w, r)
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND, REPORT")
		w.Header().Set("DAV", "1, 3, calendar-access, addressbook")
		w.WriteHeader(http.StatusNoContent)
	case webDAV(w, r, sent):
	case r.Header.Get("Content-Type") == dnsMessage && r.ProtoMajor > 0:
		http.Error(w, "No such resolver.", http.StatusNotFound)
	default:
		c := t.content(r, sent)
		if elastic(r) {
			w.Header().Set("X-Elastic-Product", "Elasticsearch") // their clients refuse to talk to another
		}
		w.Header().Set("Content-Type", c.kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(cmp.Or(c.status, http.StatusOK))
		_, _ = io.WriteString(w, c.body) // the client may be gone
	}
}

// content returns the body of the answer to a request, and its type.
func (t *conversation) content(r *http.Request, sent []byte) content {
	if c, is := isOnline(r); is {
		return c
	}
	if xml := amazon(r, sent); xml != "" {
		return content{kind: asXML.kind, body: xml}
	}
	if rows, is := clickHouseRows(r, sent); is {
		return rows
	}
	if video, is := youTube(r); is {
		return video
	}
	if repository, is := git(r); is {
		return repository
	}
	if kind := r.Header.Get("Content-Type"); protobuf.MatchString(kind) {
		return content{kind: kind, body: ""} // a message whose fields all have their defaults
	}
	if answer, is := t.rpc(r, sent); is {
		return answer
	}
	if streams(r, sent) {
		return t.stream(r, sent)
	}
	accept := r.Header.Get("Accept")
	if file, is := download(accept, r.URL.Path, t.server.config.Names); is && !strings.Contains(accept, "json") {
		return file
	}
	c := contentFor(accept, r.URL.Path)
	if c != asJSON {
		return c
	}
	return t.learned(r, sent)
}

// protobuf matches the media types of one Protocol Buffers message, as Connect, Twirp and OpenTelemetry send it.
var protobuf = lazyregexp.New(`^application/(?:x-|vnd\.google\.)?proto(?:buf)?\b`)

// dnsMessage is the media type of DNS over HTTPS (RFC 8484, 6): refused clients fall back
// to the system's resolver.
const dnsMessage = "application/dns-message"

// The bodies of answers.
const (
	bodyJSON = `{"status":"ok","ok":true,"id":"1","data":[],"items":[],"results":[]}` + "\n"
	bodyHTML = "<!DOCTYPE html>\n<html><head><title>OK</title></head><body><p>" + pageText + "</p></body></html>\n"
	bodyXML  = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>ok</status></response>\n"
	bodyText = "OK\n"
	// bodyFeed is for clients that expect XML where JSON is usual (RFC 4287, 1.1).
	bodyFeed = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>urn:note</id><title>note</title><updated>" + moment + "</updated>" +
		"<entry><id>urn:note:1</id><title>note</title><summary>" + pageText + "</summary><published>" + moment + "</published><updated>" + moment + "</updated>" +
		"<author><name>note</name></author><link href=\"https://example.com/1\"/></entry></feed>\n"
)

// pageText is the text of every page. No server says it by itself.
const pageText = "This page is a placeholder."

// Quoted reports whether a text quotes an answer of the sinkhole.
func Quoted(text string) bool {
	return strings.Contains(text, pageText) || strings.Contains(text, moment)
}

type content struct {
	kind, body string
	status     int // 0 is 200
}

var (
	asJSON = content{kind: "application/json; charset=utf-8", body: bodyJSON}
	asHTML = content{kind: "text/html; charset=utf-8", body: bodyHTML}
	asXML  = content{kind: "application/xml; charset=utf-8", body: bodyXML}
	asText = content{kind: "text/plain; charset=utf-8", body: bodyText}
	asFeed = content{kind: "application/atom+xml; charset=utf-8", body: bodyFeed}
)

// endings maps file extensions to contents.
var endings = map[string]content{
	".json": asJSON, ".html": asHTML, ".htm": asHTML, ".php": asHTML, ".xml": asXML, ".rss": asXML, ".atom": asXML,
	".txt": asText, ".md": asText, ".csv": asText, ".log": asText,
}

// contentFor picks the content for a request by the extension of its path, unless it
// accepts JSON and no page, and then by what it accepts.
func contentFor(accept, requested string) content {
	accept = strings.ToLower(accept)
	html, json := strings.Index(accept, "text/html"), strings.Index(accept, "json")
	if c, ok := endings[strings.ToLower(path.Ext(requested))]; ok && (json < 0 || html >= 0) {
		return c
	}
	switch {
	case html >= 0 && (json < 0 || html < json):
		return asHTML
	case json < 0 && strings.Contains(accept, "xml"):
		return asXML
	case json < 0 && strings.HasPrefix(accept, "text/plain"):
		return asText
	default:
		return asJSON
	}
}

// tunnel answers CONNECT as a proxy would and serves what comes through the tunnel.
func (t *conversation) tunnel(w http.ResponseWriter, r *http.Request) {
	below, err := hijack(w)
	if err != nil {
		return
	}
	defer func() { _ = below.Close() }() // whatever it says, nobody is there to hear it
	// The conversation inside records by itself.
	inside := t.inside(below)
	host, port, err := net.SplitHostPort(r.Host)
	if number, numberErr := strconv.ParseUint(port, 10, 16); err == nil && numberErr == nil {
		inside.host, inside.to = host, netip.AddrPortFrom(t.to.Addr(), uint16(number))
	}
	if inside.say("HTTP/1.1 200 Connection established\r\n\r\n") {
		inside.serve()
	}
}
