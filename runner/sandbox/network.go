package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// authorityFile has the certificate that the server is to trust.
const authorityFile = inputs.LocalDir + "/" + sinkhole.AuthorityName

// networkEnv returns the variables that the server's programs need for the network.
func (l *Launcher) networkEnv(how audit.Start) []string {
	switch {
	case l.Network == report.NetworkAllow:
		return nil
	case l.Network == report.NetworkDeny, how.Untold:
		return sinkhole.RegistriesOf(l.command).Env
	default:
		return append(sinkhole.Environment(how.Names.Out(authorityFile)), sinkhole.RegistriesOf(l.command).Env...)
	}
}

// catch takes in what the sinkhole of the outer stage sends, up to its end.
func (b *box) catch(from *os.File, network report.Network) {
	if network != report.NetworkSinkhole {
		_ = from.Close() // the stage writes nothing
		return
	}
	b.captures = make(chan sinkhole.Capture)
	go func() {
		defer close(b.captures)
		err := sinkhole.Receive(from, func(c sinkhole.Capture) {
			select {
			case b.captures <- c:
			case <-b.abandoned:
			}
		})
		if err != nil {
			_, _ = fmt.Fprintf(b.said, "%s%v: the rest was not recorded\n", notePrefix, err) // a Tail never fails
		}
		_ = from.Close() // only read
	}()
}

// callDeadline bounds how long the outer stage may take to be told of a call.
const callDeadline = time.Second

// call tells the sinkhole of the outer stage about a call, as long as it listens.
func (b *box) call(c sinkhole.Call) {
	if b.captures == nil || b.deaf {
		return
	}
	c.Arguments, c.Refusal = c.Arguments[:min(len(c.Arguments), sinkhole.MaxRefusal)], c.Refusal[:min(len(c.Refusal), sinkhole.MaxRefusal)]
	_ = b.lifeline.SetWriteDeadline(time.Now().Add(callDeadline)) // a pipe has deadlines
	b.deaf = json.NewEncoder(b.lifeline).Encode(c) != nil
}

// follow tells the sinkhole, once there is one, of the calls that the command line makes,
// and ends the stage when that ends.
func follow(lifeline *json.Decoder, network <-chan *sinkholeNetwork) {
	var answering *sinkholeNetwork
	for {
		var c sinkhole.Call
		if err := lifeline.Decode(&c); err != nil {
			os.Exit(exitBroken)
		}
		if answering == nil {
			answering = <-network
		}
		if answering != nil {
			answering.server.Call(c)
		}
	}
}

// sinkholeNetwork is the sinkhole of the outer stage.
type sinkholeNetwork struct {
	server *sinkhole.Server
	// authority is the certificate that the server is to trust.
	authority []byte
	sent      chan struct{}
}

// sendDeadline bounds how long the last captures may take to be written.
const sendDeadline = time.Second

// closeNetwork treats connections as the plan says. It returns nil unless they are to
// be answered.
func closeNetwork(s spec) (*sinkholeNetwork, error) {
	if s.Network == report.NetworkAllow {
		return nil, nil
	}
	if err := sinkhole.Close(); err != nil {
		return nil, err
	}
	if err := addInterface(); err != nil {
		return nil, err
	}
	if s.Network != report.NetworkSinkhole {
		return nil, nil
	}
	redirected := sinkhole.Redirect()
	authority, err := sinkhole.NewAuthority(s.Names)
	if err != nil {
		return nil, err
	}
	server, err := sinkhole.Serve(sinkhole.Config{Names: s.Names, Authority: authority, Absent: sinkhole.RegistriesOf(s.Command).Absent, Now: s.Clock.From(time.Now())})
	if err != nil {
		return nil, err
	}
	for _, note := range server.Notes() {
		if redirected != nil {
			note += fmt.Sprintf(": %v", redirected)
		}
		fmt.Fprintf(os.Stderr, "%s%s\n", notePrefix, note)
	}
	h := &sinkholeNetwork{server: server, authority: authority.PEM(), sent: make(chan struct{})}
	go func() {
		defer close(h.sent)
		_ = sinkhole.Send(os.NewFile(capturesFD, "captures"), server.Captures()) // the command line is gone
	}()
	return h, nil
}

// end records what the server sent last.
func (h *sinkholeNetwork) end() {
	if h == nil {
		return
	}
	h.server.Close()
	select {
	case <-h.sent:
	case <-time.After(sendDeadline):
	}
}
