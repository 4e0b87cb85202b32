package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// controller is the reconciler's name in metrics.
const controller = "mcpserveraudit"

// repeated bounds the audits that run a second time, enough to measure the cost of one.
const repeated = 500

// result is measured with one number of audits.
type result struct {
	audits, wrong int
	// first is the first run of all audits, again the second run of some.
	first, again phase
	// slots is the largest number of Pods at a time.
	slots int
	// p50 and p99 are durations of a reconciliation in seconds.
	p50, p99                       float64
	reconciles, errors             float64
	rss, heap, restartRSS, storage int // bytes
	restarted                      requests
	left                           int
}

// phase is the cost of a number of audits that run together.
type phase struct {
	audits int
	// took lasts from the first audit's creation to the last verdict.
	took                  time.Duration
	managerCPU, serverCPU float64 // seconds
	requests              requests
}

// load is the environment of a measurement.
type load struct {
	*cluster
	kubelet    *kubelet
	board      *board
	log        *requestLog
	admin      *http.Client
	image      string
	kubeconfig string
	dir        string
	binary     string // of the manager
}

// measure runs n audits with a new manager in a new cluster.
func measure(ctx context.Context, s settings, root, binary, dir string, n int) (r result, err error) {
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
		cancel() // the API server waits for open watches
		err = errors.Join(err, c.Stop())
	}()
	server := httptest.NewServer(oci.Registry("", io.Discard))
	defer server.Close()
	registry := server.Listener.Addr().String()
	if err := configure(root, dir, registry, s); err != nil {
		return r, err
	}
	l := &load{cluster: c, binary: binary, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), log: &requestLog{path: c.requests}}
	if err := l.prepare(ctx, registry); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.kubelet.logs.close()) }()
	r = result{audits: n}
	if err := l.drain(ctx, &r); err != nil {
		return r, fmt.Errorf("drain: %w", err)
	}
	if err := l.rest(ctx, &r); err != nil {
		return r, fmt.Errorf("restart: %w", err)
	}
	return r, l.kubelet.failed()
}

// prepare creates the image, the kubelet and the board before the manager starts.
func (l *load) prepare(ctx context.Context, registry string) error {
	image, err := oci.Image(oci.Config{Entrypoint: []string{"/notes"}, Cmd: []string{"--stdio"}})
	if err != nil {
		return err
	}
	l.image = registry + "/notes:v1"
	if _, err := oci.Push(ctx, l.image, image); err != nil {
		return err
	}
	if l.admin, err = rest.HTTPClientFor(l.Admin); err != nil {
		return err
	}
	if err := l.cluster.kubeconfig(ctx, l.kubeconfig); err != nil {
		return err
	}
	report, err := newCanned()
	if err != nil {
		return err
	}
	if l.kubelet, err = startKubelet(ctx, l.Clients, report); err != nil {
		return err
	}
	l.board, err = watchAudits(ctx, l.cluster)
	return err
}

// drain runs all audits, and then some of them again.
func (l *load) drain(ctx context.Context, r *result) (err error) {
	m, err := startManager(ctx, l.binary, l.kubeconfig, l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	r.first, err = l.phase(ctx, m, "", r.audits, func() error { return createAudits(ctx, l.cluster, l.image, r.audits) })
	if err != nil {
		return err
	}
	r.again, err = l.phase(ctx, m, "again", min(r.audits, repeated), func() error { return requestAudits(ctx, l.cluster, "again", min(r.audits, repeated)) })
	if err != nil {
		return err
	}
	return l.conclude(ctx, m, r)
}

// phase measures n audits, which begin makes due, up to the last verdict.
func (l *load) phase(ctx context.Context, m *manager, request string, n int, begin func() error) (phase, error) {
	p := phase{audits: n}
	if _, err := l.log.next(); err != nil { // discard earlier requests
		return p, err
	}
	before, err := l.look(ctx, m)
	if err != nil {
		return p, err
	}
	began := time.Now()
	if err := begin(); err != nil {
		return p, err
	}
	if err := l.board.await(ctx, request, n); err != nil {
		return p, errors.Join(err, l.kubelet.failed())
	}
	p.took = time.Since(began)
	if err := m.await(ctx, startTimeout, idle(float64(n))); err != nil {
		return p, fmt.Errorf("wait for the work queue: %w", err)
	}
	after, err := l.look(ctx, m)
	if err != nil {
		return p, err
	}
	p.managerCPU, p.serverCPU = after.managerCPU-before.managerCPU, after.serverCPU-before.serverCPU
	p.requests, err = l.log.next()
	return p, err
}

// conclude records the manager's metrics after all audits.
func (l *load) conclude(ctx context.Context, m *manager, r *result) error {
	end, err := l.look(ctx, m)
	if err != nil {
		return err
	}
	_, first := l.board.count("")
	_, again := l.board.count("again")
	r.wrong, r.slots, r.storage = r.audits-first-again, l.kubelet.most, end.storage
	r.p50 = end.manager.quantile(0.5, "controller_runtime_reconcile_time_seconds", "controller", controller)
	r.p99 = end.manager.quantile(0.99, "controller_runtime_reconcile_time_seconds", "controller", controller)
	r.reconciles = end.manager.sum("controller_runtime_reconcile_total", "controller", controller)
	r.errors = end.manager.sum("controller_runtime_reconcile_errors_total", "controller", controller)
	r.heap = int(end.manager.sum("go_memstats_heap_inuse_bytes"))
	if r.rss, err = m.peakRSS(); err != nil {
		return err
	}
	r.left, err = left(ctx, l.cluster)
	return err
}

// rest restarts the manager after all verdicts: it reconciles every audit once, as in a resync.
func (l *load) rest(ctx context.Context, r *result) (err error) {
	if _, err := l.log.next(); err != nil { // discard requests of the previous manager
		return err
	}
	m, err := startManager(ctx, l.binary, l.kubeconfig, l.dir)
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
	r.restarted, err = l.log.next()
	return err
}

// idle reports whether the manager has reconciled n audits and its queue is empty.
func idle(n float64) func(families) bool {
	return func(f families) bool {
		return f.sum("controller_runtime_reconcile_total", "controller", controller) >= n &&
			f.sum("workqueue_depth", "name", controller)+f.sum("controller_runtime_active_workers", "controller", controller) == 0
	}
}

// sample has metrics at one time.
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
	server, err := scrape(ctx, l.admin, l.ControlPlane.APIServer.SecureServing.URL("https", "metrics").String())
	if err != nil {
		return sample{}, err
	}
	etcd, err := scrape(ctx, http.DefaultClient, l.ControlPlane.Etcd.URL.String()+"/metrics")
	if err != nil {
		return sample{}, err
	}
	const cpu = "process_cpu_seconds_total"
	return sample{
		manager: manager, managerCPU: manager.sum(cpu), serverCPU: server.sum(cpu),
		storage: int(etcd.sum("etcd_mvcc_db_total_size_in_use_in_bytes")),
	}, nil
}
