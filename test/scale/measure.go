package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// controller is the name that the metrics of the reconciler have.
const controller = "mcpserveraudit"

// result is what was measured with one number of audits.
type result struct {
	audits, wrong int
	// drain is from the first audit's creation to the last one's verdict.
	drain time.Duration
	// slots is the most Pods that there were at a time.
	slots int
	// p50 and p99 are of one reconciliation, in seconds.
	p50, p99                       float64
	reconciles, errors             float64
	managerCPU, serverCPU          float64 // seconds
	rss, heap, restartRSS, storage int     // bytes
	requests, steady               requests
	left                           int
}

// load is where measurements are made.
type load struct {
	*cluster
	kubelet    *kubelet
	board      *board
	log        *requestLog
	admin      *http.Client
	image      string
	kubeconfig string
	dir        string
}

// measure has n audits made by a fresh manager in a fresh cluster.
func measure(ctx context.Context, root, binary, dir string, n int) (r result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir = filepath.Join(dir, strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return r, err
	}
	c, err := startCluster(ctx, root, dir)
	if err != nil {
		return r, err
	}
	defer func() {
		cancel() // the API server waits for those who watch
		err = errors.Join(err, c.stop())
	}()
	registry, err := oci.Serve("127.0.0.1:0", oci.RegistryOptions{Log: io.Discard})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	l := &load{cluster: c, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), log: &requestLog{path: c.requests}}
	if err := l.prepare(ctx, registry); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.kubelet.logs.close()) }()
	r = result{audits: n}
	if err := l.drain(ctx, binary, &r); err != nil {
		return r, fmt.Errorf("drain: %w", err)
	}
	if err := l.rest(ctx, binary, &r); err != nil {
		return r, fmt.Errorf("restart: %w", err)
	}
	return r, l.kubelet.failed()
}

// prepare makes what the manager finds when it starts.
func (l *load) prepare(ctx context.Context, registry *oci.Registry) error {
	image, err := oci.Image(oci.Config{Entrypoint: []string{"/notes"}, Cmd: []string{"--stdio"}})
	if err != nil {
		return err
	}
	l.image = registry.Address() + "/notes:v1"
	if _, err := oci.Push(ctx, l.image, image, nil); err != nil {
		return err
	}
	if l.admin, err = rest.HTTPClientFor(l.config); err != nil {
		return err
	}
	if err := l.cluster.kubeconfig(ctx, l.kubeconfig); err != nil {
		return err
	}
	report, err := newCanned()
	if err != nil {
		return err
	}
	if l.kubelet, err = startKubelet(ctx, l.clients, report); err != nil {
		return err
	}
	l.board, err = watchAudits(ctx, l.cluster)
	return err
}

// drain creates the audits while the manager is there, and waits for the verdicts.
func (l *load) drain(ctx context.Context, binary string, r *result) (err error) {
	m, err := startManager(ctx, binary, l.kubeconfig, l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	before, err := l.look(ctx, m)
	if err != nil {
		return err
	}
	if _, err := l.log.next(); err != nil { // what a start costs is not an audit's
		return err
	}
	began := time.Now()
	if err := createAudits(ctx, l.cluster, l.image, r.audits); err != nil {
		return err
	}
	if err := l.board.await(ctx, r.audits); err != nil {
		return errors.Join(err, l.kubelet.failed())
	}
	r.drain = time.Since(began)
	if err := m.await(ctx, startTimeout, idle(float64(r.audits))); err != nil {
		return fmt.Errorf("wait for the work queue: %w", err)
	}
	after, err := l.look(ctx, m)
	if err != nil {
		return err
	}
	_, expected := l.board.count()
	r.wrong, r.slots = r.audits-expected, l.kubelet.most
	r.managerCPU, r.serverCPU = after.managerCPU-before.managerCPU, after.serverCPU-before.serverCPU
	r.storage = after.storage
	r.p50 = after.manager.quantile(0.5, "controller_runtime_reconcile_time_seconds", "controller", controller)
	r.p99 = after.manager.quantile(0.99, "controller_runtime_reconcile_time_seconds", "controller", controller)
	r.reconciles = after.manager.sum("controller_runtime_reconcile_total", "controller", controller)
	r.errors = after.manager.sum("controller_runtime_reconcile_errors_total", "controller", controller)
	r.heap = int(after.manager.sum("go_memstats_heap_inuse_bytes"))
	if r.rss, err = m.peakRSS(); err != nil {
		return err
	}
	if r.requests, err = l.log.next(); err != nil {
		return err
	}
	r.left, err = left(ctx, l.cluster)
	return err
}

// rest restarts the manager when everything is decided: it looks at every audit
// once, as a resync does.
func (l *load) rest(ctx context.Context, binary string, r *result) (err error) {
	if _, err := l.log.next(); err != nil { // the end of the manager before
		return err
	}
	m, err := startManager(ctx, binary, l.kubeconfig, l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	if err := m.await(ctx, patience, idle(float64(r.audits))); err != nil {
		return fmt.Errorf("wait for the work queue: %w", err)
	}
	if r.restartRSS, err = m.peakRSS(); err != nil {
		return err
	}
	r.steady, err = l.log.next()
	return err
}

// idle tells whether the manager has looked at n audits and has nothing left to do.
func idle(n float64) func(families) bool {
	return func(f families) bool {
		return f.sum("controller_runtime_reconcile_total", "controller", controller) >= n &&
			f.sum("workqueue_depth", "name", controller)+f.sum("controller_runtime_active_workers", "controller", controller) == 0
	}
}

// sample is what is read from metrics at one time.
type sample struct {
	manager               families
	managerCPU, serverCPU float64
	storage               int
}

func (l *load) look(ctx context.Context, m *manager) (sample, error) {
	manager, err := scrape(ctx, http.DefaultClient, m.metrics)
	if err != nil {
		return sample{}, err
	}
	server, err := scrape(ctx, l.admin, l.environment.ControlPlane.APIServer.SecureServing.URL("https", "metrics").String())
	if err != nil {
		return sample{}, err
	}
	etcd, err := scrape(ctx, http.DefaultClient, l.environment.ControlPlane.Etcd.URL.String()+"/metrics")
	if err != nil {
		return sample{}, err
	}
	const cpu = "process_cpu_seconds_total"
	return sample{
		manager: manager, managerCPU: manager.sum(cpu), serverCPU: server.sum(cpu),
		storage: int(etcd.sum("etcd_mvcc_db_total_size_in_use_in_bytes")),
	}, nil
}
