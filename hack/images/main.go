// Command images builds the project's images without a daemon, pushes them,
// and serves the registry of the local cluster.
//
//	images build [--push REGISTRY] [--tag TAG] [NAME...]
//	images serve --addr HOST:PORT --dir DIR
//	images release [--dir DIR] [--platforms LIST] [--name PREFIX] [--tag TAG]
//	images push --to REGISTRY ARCHIVE...
//	images lock
//	images archive --name NAME:TAG --file SOURCE=PATH --entrypoint PATH FILE
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// commands are the subcommands by name. Each parses its own arguments.
var commands = map[string]func(context.Context, []string) error{
	"archive": archive,
	"build":   build,
	"lock":    lock,
	"push":    push,
	"release": release,
	"serve":   serve,
}

func main() { command.Main("images", run) }

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: images build|serve|release|push|lock|archive [flags]")
	}
	return commands[args[0]](ctx, args[1:])
}

// serve runs a registry until a signal ends it.
func serve(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("images serve", pflag.ContinueOnError)
	address := flags.String("addr", "127.0.0.1:5000", "`HOST:PORT` to listen at")
	dir := flags.String("dir", "", "`folder` for the blobs (default in memory)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir != "" {
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return fmt.Errorf("make the registry's folder: %w", err)
		}
	}
	server := http.Server{Addr: *address, Handler: oci.Registry(*dir, os.Stderr), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve registry: %w", err)
	}
	return nil
}

// archive writes an image as a tar that containerd imports.
func archive(_ context.Context, args []string) error {
	flags := pflag.NewFlagSet("images archive", pflag.ContinueOnError)
	tag := flags.String("name", "", "`NAME:TAG` of the image")
	files := flags.StringSlice("file", nil, "`SOURCE=PATH` of a file in the image")
	entrypoint := flags.String("entrypoint", "", "`path` of the program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("archive: name one file to write")
	}
	ref, err := name.NewTag(*tag)
	if err != nil {
		return fmt.Errorf("parse name: %w", err)
	}
	tree := oci.NewTree()
	for _, f := range *files {
		source, target, _ := strings.Cut(f, "=")
		tree.Copy(target, source)
	}
	scratch, err := os.MkdirTemp("", "images-")
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	layer, err := tree.Layer(scratch)
	if err != nil {
		return err
	}
	img, err := oci.Image(oci.Config{Entrypoint: []string{*entrypoint}, User: "65535:65535"}, layer)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(flags.Arg(0), ref, img); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}
