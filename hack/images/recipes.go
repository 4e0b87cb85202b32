package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// Users of the images, as in their /etc/passwd. 65532 is distroless's nonroot.
const (
	root    = "0:0"
	user    = "1000:1000"
	nonroot = "65532:65532"
)

// recipe is one image, REGISTRY/mcpaudit/NAME:TAG.
type recipe struct {
	name  string
	tag   string // empty: the tag that the command line asks for
	build func(context.Context, *workshop) (v1.Image, error)
}

// recipes lists all images: the product's own as in Dockerfile, and the servers that the tests
// audit, which differ in user and form of entrypoint on purpose.
var recipes = []recipe{
	{name: "manager", build: manager},
	{name: "runner", build: runner},
	{name: "honest-go", build: goServer("honest", oci.Config{Entrypoint: []string{"/server"}, User: nonroot})},
	{name: "leaky-go", build: goServer("leaky", oci.Config{Entrypoint: []string{"/server"}, User: root})},
	{name: "tickets", build: goServer("tickets", oci.Config{Entrypoint: []string{"/server"}, User: nonroot})},
	{name: "rugpull", build: goServer("rugpull", oci.Config{Entrypoint: []string{"/server"}, User: nonroot})},
	{name: "later-node", build: nodeServer("later")},
	{name: "honest-node", build: nodeServer("honest")},
	{name: "leaky-node", build: nodeServer("leaky")},
	{name: "honest-python", build: pythonServer("honest")},
	{name: "leaky-python", build: pythonServer("leaky")},
	{name: "everything", build: referenceServer("everything", nil, "stdio")},
	{name: "filesystem", build: referenceServer("filesystem", nil, "/tmp")},
	{name: "memory", build: referenceServer("memory", []string{"MEMORY_FILE_PATH=/tmp/memory.jsonl"})},
	{name: "sequential-thinking", build: referenceServer("sequential-thinking", nil)},
	{name: "misbehave", tag: "exit", build: misbehave("exit")},
	{name: "misbehave", tag: "silent", build: misbehave("silent")},
	{name: "misbehave", tag: "garbage", build: misbehave("garbage")},
	{name: "misbehave", tag: "oom", build: misbehave("oom")},
	{name: "misbehave", tag: "fill", build: misbehave("fill")},
	{name: "misbehave", tag: "fork", build: misbehave("fork")},
	{name: "misbehave", tag: "slow", build: misbehave("slow")},
	{name: "misbehave", tag: "huge", build: misbehave("huge")},
	{name: "drift", tag: "v1", build: misbehave("drift")},
	{name: "drift", tag: "v2", build: misbehave("drift",
		"NOTES_DESCRIPTION=Formats a markdown note, with its title in capital letters.")},
}

// base returns the part that all images share: users, homes and /tmp.
func base() *oci.Tree {
	t := oci.NewTree()
	t.Write("/etc/passwd", 0o644, "root:x:0:0:root:/root:/sbin/nologin\n"+
		"user:x:1000:1000:user:/home/user:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"+
		"nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n")
	t.Write("/etc/group", 0o644, "root:x:0:\nuser:x:1000:\nnonroot:x:65532:\nnogroup:x:65534:\n")
	t.Write("/etc/nsswitch.conf", 0o644, "hosts: files dns\n")
	t.Mkdir("/root", 0o700, 0, 0)
	t.Mkdir("/home/user", 0o755, 1000, 1000)
	t.Mkdir("/home/nonroot", 0o755, 65532, 65532)
	t.Mkdir("/tmp", fs.ModeSticky|0o777, 0, 0)
	return t
}

// authorities are the certificates that Debian trusts.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

func manager(ctx context.Context, w *workshop) (v1.Image, error) {
	t := oci.NewTree()
	for _, name := range []string{"manager", "gate"} {
		program, err := w.program(ctx, "cmd/"+name)
		if err != nil {
			return nil, err
		}
		t.Copy("/"+name, program)
	}
	// for registries over TLS
	if err := w.origin.authorities(t); err != nil {
		return nil, err
	}
	return w.image(oci.Config{Entrypoint: []string{"/manager"}, User: nonroot}, base(), t)
}

func runner(ctx context.Context, w *workshop) (v1.Image, error) {
	program, err := w.program(ctx, "cmd/runner")
	if err != nil {
		return nil, err
	}
	tools, t := oci.NewTree(), oci.NewTree()
	t.Copy("/mcpaudit-runner", program)
	// for servers at an https URL
	if err := errors.Join(w.origin.program(ctx, tools, "/usr/bin/strace"), w.origin.authorities(t)); err != nil {
		return nil, err
	}
	for _, dir := range []string{"bin", "run", "home", "trace"} { // mount points
		t.Mkdir("/mcpaudit/"+dir, 0o755, 0, 0)
	}
	return w.image(oci.Config{Entrypoint: []string{"/mcpaudit-runner"}, User: nonroot}, base(), tools, t)
}

func goServer(name string, config oci.Config) func(context.Context, *workshop) (v1.Image, error) {
	return func(ctx context.Context, w *workshop) (v1.Image, error) {
		program, err := w.program(ctx, "test/servers/go/"+name)
		if err != nil {
			return nil, err
		}
		t := oci.NewTree()
		t.Copy("/server", program)
		return w.image(config, base(), t)
	}
}

func misbehave(mode string, env ...string) func(context.Context, *workshop) (v1.Image, error) {
	return goServer("misbehave", oci.Config{Entrypoint: []string{"/server"}, Cmd: []string{mode}, Env: env, User: nonroot})
}

// app returns the files of the tests' servers, below /app as in the tree.
func (w *workshop) app(files ...string) *oci.Tree {
	t := oci.NewTree()
	for _, f := range append(files, "tool.json") {
		t.Copy("/app/"+f, filepath.Join(w.root, "test/servers", f))
	}
	return t
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
