package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/test/command"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// startTimeout bounds the start and the stop of the manager.
const startTimeout = time.Minute

// buildManager builds the manager from this tree, and returns the tree's root.
func buildManager(ctx context.Context, dir string) (root, binary string, err error) {
	if root, err = command.SourceTree(ctx); err != nil {
		return "", "", err
	}
	binary = filepath.Join(dir, "manager")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/manager")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		return "", "", fmt.Errorf("build the manager: %w", err)
	}
	return root, binary, nil
}

// configFile is the name of the manager's configuration in the working directory.
const configFile = "config.yaml"

// configure writes the deployed configuration with other slots and another registry.
func configure(root, dir, registry string, s settings) error {
	deployed, err := os.ReadFile(filepath.Join(root, "config", "manager", configFile))
	if err != nil {
		return err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(deployed, &config); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	config["slots"] = map[string]any{"total": s.slots, "perNamespace": s.namespaceSlots}
	config["registries"] = map[string]any{"plainHTTP": strings.Fields(registry)}
	changed, err := yaml.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, configFile), changed, 0o600)
}

// manager is the operator's process.
type manager struct {
	command *exec.Cmd
	metrics string // URL
	ended   chan error
	log     string // file
}

// startManager starts the manager as deployed, and waits until it is the leader.
func startManager(ctx context.Context, binary, kubeconfig, dir string) (*manager, error) {
	metrics, err := controlplane.FreeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, "manager.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	m := &manager{metrics: "http://" + metrics + "/metrics", ended: make(chan error, 1), log: log.Name()}
	m.command = exec.Command(binary,
		"--kubeconfig="+kubeconfig, "--leader-election-namespace="+options.SystemNamespace,
		"--config="+filepath.Join(dir, configFile),
		"--metrics-bind-address="+metrics, "--metrics-secure=false", "--health-probe-bind-address=0",
		"--runner-image=registry.example/runner:v1",
	)
	m.command.Env = append(os.Environ(), "GOMEMLIMIT=230MiB") // as in config/manager
	m.command.Stderr = log
	if err := m.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start manager: %w", err), log.Close())
	}
	go func() {
		m.ended <- m.command.Wait()
		_ = log.Close() // the process had its own descriptor
	}()
	if err := m.await(ctx, startTimeout, func(f families) bool { return f.sum("leader_election_master_status") == 1 }); err != nil {
		return nil, errors.Join(fmt.Errorf("wait for the manager to lead: %w", err), m.stop())
	}
	return m, nil
}

// await polls the metrics until done is true.
func (m *manager) await(ctx context.Context, within time.Duration, done func(families) bool) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		if f, err := scrape(ctx, http.DefaultClient, m.metrics); err == nil && done(f) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-m.ended:
			m.ended <- err
			return fmt.Errorf("the manager has ended: %w; its log: %s", err, m.tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tail returns the end of the log.
func (m *manager) tail() string {
	log, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-4096):])
}

func (m *manager) peakRSS() (int, error) { return command.PeakRSS(m.command.Process.Pid) }

// stop terminates the manager and waits for it, so that it releases its lease.
func (m *manager) stop() error {
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-m.ended:
		if err != nil {
			return fmt.Errorf("the manager ended badly: %w; its log: %s", err, m.tail())
		}
		return nil
	case <-time.After(startTimeout):
		return errors.Join(errors.New("the manager did not end"), m.command.Process.Kill())
	}
}
