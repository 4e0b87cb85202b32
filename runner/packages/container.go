package packages

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Container is a container as docker-run(1) describes it. What only limits it, publishes it or names it is left out: the
// sandbox has limits of its own.
type Container struct {
	// Image is a name in a registry, or a path that begins with "/" or ".".
	Image string
	// Arguments replace the image's Cmd. Entrypoint, Dir and User replace the image's; "" keeps those.
	Arguments             []string
	Entrypoint, Dir, User string
	// Env has NAME=VALUE, or NAME for a variable of whoever starts the container.
	Env []string
	// Volumes are the directories at which something of the machine is mounted.
	Volumes []string
}

// engines have the command line of docker-run(1).
var engines = []string{"docker", "podman", "nerdctl"}

// The flags of docker-run(1) that are read into nothing; a letter after a colon is the flag's short form.
var (
	switches = strings.Fields("detach:d disable-content-trust init interactive:i no-healthcheck oom-kill-disable privileged publish-all:P quiet:q read-only " +
		"replace rm sig-proxy tls-verify tty:t use-api-socket")
	ignored = strings.Fields("add-host annotation attach:a blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent cgroupns cidfile cpu-count " +
		"cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares:c cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule " +
		"device-read-bps device-read-iops device-write-bps device-write-iops dns dns-option dns-search domainname expose gpus group-add health-cmd " +
		"health-interval health-retries health-start-interval health-start-period health-timeout hostname:h io-maxbandwidth io-maxiops ip ip6 ipc isolation " +
		"kernel-memory label:l label-file link link-local-ip log-driver log-opt mac-address memory:m memory-reservation memory-swap memory-swappiness name " +
		"net net-alias network network-alias oom-score-adj pid pids-limit platform publish:p pull restart runtime security-opt shm-size stop-signal " +
		"stop-timeout storage-opt sysctl tmpfs ulimit userns uts volume-driver volumes-from")
)

// readContainer reads a command line of a container engine; false if it runs no image.
func readContainer(command []string) (c Container, runs bool, err error) {
	if len(command) == 0 || !slices.Contains(engines, path.Base(command[0])) {
		return c, false, nil
	}
	words := command[1:]
	if len(words) > 0 && words[0] == "container" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "run" {
		return c, false, nil
	}
	c, err = containerOf(words[1:])
	if err != nil {
		err = fmt.Errorf("%s run: %w; or name the image: mcpaudit run oci:IMAGE", path.Base(command[0]), err)
	}
	return c, true, err
}

// containerOf reads the flags, the image and the arguments of a container.
func containerOf(words []string) (c Container, err error) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags.SetInterspersed(false)
	flags.SetOutput(io.Discard)
	for _, name := range switches {
		name, short, _ := strings.Cut(name, ":")
		flags.BoolP(name, short, false, "")
	}
	for _, name := range ignored {
		name, short, _ := strings.Cut(name, ":")
		flags.StringArrayP(name, short, nil, "")
	}
	flags.StringVar(&c.Entrypoint, "entrypoint", "", "")
	flags.StringVarP(&c.Dir, "workdir", "w", "", "")
	flags.StringVarP(&c.User, "user", "u", "", "")
	flags.StringArrayVarP(&c.Env, "env", "e", nil, "")
	files := flags.StringArray("env-file", nil, "")
	volumes := flags.StringArrayP("volume", "v", nil, "")
	mounts := flags.StringArray("mount", nil, "")
	if err := flags.Parse(words); err != nil {
		return c, err
	}
	if flags.NArg() == 0 {
		return c, fmt.Errorf("no image")
	}
	c.Image, c.Arguments = flags.Arg(0), flags.Args()[1:]
	for _, file := range *files {
		entries, err := variablesOf(file)
		if err != nil {
			return c, fmt.Errorf("--env-file: %w", err)
		}
		c.Env = append(entries, c.Env...) // a later one of the same name counts
	}
	for _, volume := range *volumes {
		parts := strings.SplitN(volume, ":", 3)
		c.mount(parts[0], parts[min(1, len(parts)-1)])
	}
	for _, mount := range *mounts {
		fields, err := csv.NewReader(strings.NewReader(mount)).Read()
		if err != nil {
			return c, fmt.Errorf("--mount: %w", err)
		}
		c.mount(valueOf(fields, "source", "src"), valueOf(fields, "target", "destination", "dst"))
	}
	return c, nil
}

// Launched returns how the container is started.
func (c Container) Launched() Launched {
	return Launched{Package: Package{Registry: OCI, Name: c.Image}, Arguments: c.Arguments, Container: &c}
}

// mount adds a volume, unless a file or a socket of the machine is mounted there.
func (c *Container) mount(source, target string) {
	info, err := os.Stat(source)
	if path.IsAbs(target) && (err != nil || info.IsDir()) {
		c.Volumes = append(c.Volumes, path.Clean(target))
	}
}

// valueOf returns the value of the first "NAME=VALUE" with one of the names.
func valueOf(fields []string, names ...string) string {
	for _, field := range fields {
		if name, value, _ := strings.Cut(field, "="); slices.Contains(names, name) {
			return value
		}
	}
	return ""
}

// variablesOf reads a file of variables, one a line.
func variablesOf(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var entries []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			entries = append(entries, line)
		}
	}
	return entries, nil
}
