package trace

import (
	"fmt"
	"strings"
	"testing"
)

// The calls of a process with a UDP socket that is bound to port 4000, as strace prints them: it remembers the address
// that the socket had when it was first seen, our own tracer prints the one it has.
const (
	bindAny    = `bind(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr("0.0.0.0")}, 16) = 0`
	bindAnyV6  = `bind(3<UDPv6:[9]>, {sa_family=AF_INET6, sin6_port=htons(4000), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::", &sin6_addr), sin6_scope_id=0}, 28) = 0`
	toResolver = `connect(3<UDP:[0.0.0.0:4000]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`
	toOther    = `connect(3<UDP:[0.0.0.0:4000]>, {sa_family=AF_INET, sin_port=htons(99), sin_addr=inet_addr("192.0.2.9")}, 16) = 0`
	refused    = `connect(3<UDP:[0.0.0.0:4000]>, {sa_family=AF_INET, sin_port=htons(%d), sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH (Network is unreachable)`
	toNobody   = `connect(3<UDP:[0.0.0.0:4000]>, {sa_family=AF_UNSPEC, sa_data="\0"}, 16) = 0`
	sendIt     = `sendto(3<UDP:[0.0.0.0:4000]>, "x", 1, MSG_NOSIGNAL, NULL, 0) = 1`
	sendFar    = `sendto(3<UDP:[0.0.0.0:4000]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(99), sin_addr=inet_addr("192.0.2.9")}, 16) = 1`
	readIt     = `read(3<UDP:[0.0.0.0:4000]>, "y", 9) = 1`
	fromPeer   = `recvfrom(3<UDP:[0.0.0.0:4000]>, "y", 9, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, [16]) = 1`
	fromOther  = `recvfrom(3<UDP:[0.0.0.0:4000]>, "y", 9, 0, {sa_family=AF_INET, sin_port=htons(99), sin_addr=inet_addr("192.0.2.9")}, [16]) = 1`
	noneYet    = `recvmsg(3<UDP:[0.0.0.0:4000]>, {msg_namelen=0}, 0) = -1 EAGAIN (Resource temporarily unavailable)`
)

// TestBound: a UDP socket is a listener unless it is connected, and sends to its peer before it receives.
func TestBound(t *testing.T) {
	second := strings.ReplaceAll(bindAny, "3<UDP:[9]>", "4<UDP:[10]>")
	for name, tc := range map[string]struct {
		calls []string
		want  int // binds that are reported
	}{
		"a resolver": {[]string{bindAny, toResolver, sendIt, noneYet, readIt}, 0},
		"a resolver that asks where answers are from": {[]string{bindAny, toResolver, sendIt, fromPeer}, 0},
		"a resolver over IPv6, to a mapped address":   {[]string{bindAnyV6, strings.ReplaceAll(toResolver, "UDP:[0.0.0.0:4000]", "UDPv6:[[::]:4000]"), strings.ReplaceAll(sendIt, "UDP:[0.0.0.0:4000]", "UDPv6:[[::]:4000]")}, 0},
		"a resolver under our own tracer":             {[]string{bindAny, toResolver, strings.ReplaceAll(sendIt, "0.0.0.0:4000", "10.0.0.7:4000->192.0.2.1:53"), strings.ReplaceAll(readIt, "0.0.0.0:4000", "10.0.0.7:4000->192.0.2.1:53")}, 0},
		"a resolver in another network namespace":     {[]string{bindAny, strings.ReplaceAll(toResolver, "0.0.0.0:4000", "9"), strings.ReplaceAll(sendIt, "0.0.0.0:4000", "9"), strings.ReplaceAll(readIt, "0.0.0.0:4000", "9")}, 0},
		"a resolver that is unreachable":              {[]string{bindAny, fmt.Sprintf(refused, 53)}, 0},
		"a resolver that has its port again":          {[]string{bindAny, toResolver, sendIt, bindAny, toResolver, sendIt}, 0},
		"bound, and nothing else":                     {[]string{bindAny}, 1},
		"it receives":                                 {[]string{bindAny, fromOther, fromOther}, 1},
		"it sends and receives":                       {[]string{bindAny, sendFar, fromOther}, 1},
		"it receives, then connects":                  {[]string{bindAny, fromOther, toResolver, sendIt}, 1},
		"it connects late":                            {[]string{bindAny, "later", toResolver, sendIt}, 1},
		"another process connects":                    {[]string{bindAny, "other", toResolver, sendIt}, 1},
		"it cannot connect":                           {[]string{bindAny, fmt.Sprintf(refused, 99)}, 1},
		"it cannot connect, and receives":             {[]string{bindAny, fmt.Sprintf(refused, 53), readIt}, 1},
		"it unconnects":                               {[]string{bindAny, toResolver, sendIt, toNobody}, 1},
		"connected, it sends nothing":                 {[]string{bindAny, toOther}, 1},
		"connected, it receives first":                {[]string{bindAny, toOther, readIt, sendIt}, 1},
		"connected, it sends to another":              {[]string{bindAny, toResolver, sendFar}, 1},
		"its second peer gets nothing":                {[]string{bindAny, toResolver, sendIt, toOther}, 1},
		"what came before the connect":                {[]string{bindAny, toResolver, sendIt, fromOther}, 1},
		"another socket of the address connects":      {[]string{bindAny, second, strings.ReplaceAll(toResolver, "3<", "4<"), strings.ReplaceAll(sendIt, "3<", "4<")}, 1},
		"the first socket of the address reconnects":  {[]string{bindAny, toResolver, sendIt, second, toResolver, sendIt}, 1},
		"a bind that failed":                          {[]string{strings.ReplaceAll(bindAny, "= 0", "= -1 EACCES (Permission denied)")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lines, pid, at := begin+"\n", 5, 2.0
			for _, call := range tc.calls {
				switch call {
				case "later":
					at += 60
				case "other":
					pid = 6
				default:
					lines += fmt.Sprintf("%d %f %s <0.000001>\n", pid, at, call)
				}
			}
			events, stats := decode(Config{}, []byte(lines))
			got := 0
			for _, e := range events {
				if e.Op == OpBind {
					got++
				}
			}
			if got != tc.want || stats.Unparsed > 0 {
				t.Errorf("%d binds, want %d (%d lines not understood): %+v", got, tc.want, stats.Unparsed, events)
			}
		})
	}
}

// TestBoundBound: binds that cannot be held back are reported.
func TestBoundBound(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(begin + "\n")
	for port := range maxBound + 7 {
		fmt.Fprintf(&lines, "5 2.000000 bind(3<UDP:[%d]>, {sa_family=AF_INET, sin_port=htons(%d), sin_addr=inet_addr(\"0.0.0.0\")}, 16) = 0 <0.000001>\n", port, 1000+port)
		fmt.Fprintf(&lines, "5 2.000000 connect(3<UDP:[%d]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"192.0.2.1\")}, 16) = 0 <0.000001>\n", port)
		fmt.Fprintf(&lines, "5 2.000000 write(3<UDP:[%d]>, \"x\", 1) = 1 <0.000001>\n", port)
	}
	events, _ := decode(Config{}, []byte(lines.String()))
	got := 0
	for _, e := range events {
		if e.Op == OpBind {
			got++
		}
	}
	if got != 7 {
		t.Errorf("%d binds, want 7", got)
	}
}
