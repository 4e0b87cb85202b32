package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// spec holds what the command line tells the first process of the sandbox.
type spec struct {
	// Names are what the server sees in place of the audit's own names.
	Names *pseudonym.Names `json:"names,omitempty"`
	// Mount is an empty directory to build the server's root below.
	Mount string `json:"mount"`
	// Dir is the working directory of the server, Home its home.
	Dir    string    `json:"dir"`
	Home   string    `json:"home"`
	Keep   []string  `json:"keep"`
	Decoys decoy.Set `json:"decoys"`
	// Private are directories of the audit that the server must not see.
	Private []string `json:"private"`
	// Sockets are the paths of the machine's unix sockets, and BindOnly says that no
	// overlays are to be tried.
	Sockets  []string `json:"sockets"`
	BindOnly bool     `json:"bindOnly"`
	// Tracer is the tracer's command line without what it wraps.
	Tracer []string `json:"tracer"`
	// Clock is the time that the server sees.
	Clock trace.Clock `json:"clock"`
	// Network says what becomes of connections.
	Network report.Network `json:"network"`
	// Again: an earlier run has left a root, which comes as a descriptor.
	Again bool `json:"again"`
	// StandIns: our own program answers for programs that are missing.
	StandIns bool `json:"standIns"`
	// Homes of the people whose files the server may meet, besides Home.
	Homes []string `json:"homes"`
	// Command is the server's, Parent the path of the program that seems to have started it, Host
	// the name of the machine that it seems to run on.
	Command []string `json:"command"`
	Parent  string   `json:"parent"`
	Host    string   `json:"host"`
	// Person is who the server is, where it is not the user who started the audit.
	Person person `json:"person"`
	// Image has the files that the server sees; nil for the machine's.
	Image *image.Image `json:"image"`
}

// noParent is the Parent of a server that no client has started.
const noParent = "/usr/bin/bash"

// view returns the view of the machine's files.
func (s spec) view(mounts []mountPoint) view {
	var decoys []string
	for _, f := range s.Decoys.Files {
		decoys = append(decoys, f.Path)
	}
	v := newView(s.Home, mounts, s.Keep, decoys)
	for _, dir := range s.Homes {
		v.protect(dir)
	}
	return v
}

// homeless is the home of a server whose user has none.
const homeless = "/home/ellis"

// homeOf returns the home that the environment names, if it can be one, without
// links: the sandbox writes to it, and the trace names it so.
func homeOf(environ []string) string {
	for _, entry := range environ {
		value, ok := strings.CutPrefix(entry, "HOME=")
		if !ok {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(value); err == nil {
			value = resolved
		}
		if filepath.IsAbs(value) && filepath.Clean(value) != "/" {
			return filepath.Clean(value)
		}
	}
	return homeless
}

// passed lists the environment variables that a server gets from the user. Others
// may be secrets: a user can pass one in the command (env NAME=VALUE server).
var passed = []string{
	"COLORTERM", "CONDA_PREFIX", "DENO_DIR", "GOPATH", "GOROOT", "JAVA_HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"LOGNAME", "NODE_PATH", "NVM_BIN", "NVM_DIR", "PATH", "PNPM_HOME", "PYENV_ROOT", "PYTHONHOME", "PYTHONPATH",
	"RBENV_ROOT", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV", "VOLTA_HOME",
}

// environment is the server's: what is passed on, the home and what is added.
func environment(environ []string, home string, added []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	return append(append(env, "HOME="+home), added...)
}

// sockets are the paths in a table of unix sockets (proc_net(5), unix).
func sockets(table string) []string {
	const path = 7
	var all []string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > path && strings.HasPrefix(fields[path], "/") {
			all = append(all, filepath.Clean(fields[path]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
