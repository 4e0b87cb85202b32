package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) logsCommand() *cobra.Command {
	var l logging
	c := &cobra.Command{
		Use: "logs NAME", Short: "Print the logs of the audit in progress", Args: cli.Args(1, 1), ValidArgsFunction: s.completeAudit,
		Example: s.examples("logs notes", "logs notes -f"),
		RunE: s.connected(func(ctx context.Context, a *api, args []string) error {
			pod, err := l.find(ctx, s, a, args[0])
			if err != nil {
				return err
			}
			return l.print(ctx, s, a, pod)
		}),
	}
	c.Flags().BoolVarP(&l.follow, "follow", "f", false, "wait for the audit Pod, and follow the logs until it ends")
	return c
}

// logging holds the flags of logs.
type logging struct {
	follow bool
}

// find returns the Pod of the audit in progress; with follow it waits for one.
func (l *logging) find(ctx context.Context, s *session, a *api, name string) (*corev1.Pod, error) {
	progress := s.progress(a.namespace + "/" + name)
	defer progress.end()
	began := s.now()
	for {
		audit, err := a.audit(ctx, name)
		if err != nil {
			return nil, err
		}
		pod, err := a.pod(ctx, options.RunNamespace, audit)
		if pod != nil || err != nil {
			return pod, err
		}
		if auditing(audit) == nil && (settled(audit) || !l.follow) {
			return nil, notRunning(audit, s.name)
		}
		step := currentStep(audit, s.now().Sub(began))
		if !l.follow {
			return nil, fmt.Errorf("the audit of %s has no Pod yet: %s (-f waits for it)", place(audit), step)
		}
		progress.show(step, s.now().Sub(began))
		if err := sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

func notRunning(a *v1alpha1.MCPServerAudit, program string) error {
	if a.Status.Verdict == "" {
		return fmt.Errorf("%s has not been audited yet, and no audit is in progress: see %s show %s -n %s", place(a), program, a.Name, a.Namespace)
	}
	return fmt.Errorf("no audit of %s is in progress, and the log was deleted with its Pod: see the result with %s show %s -n %s", place(a), program, a.Name, a.Namespace)
}

// print prints the logs of all containers, in turn unless followed.
func (l *logging) print(ctx context.Context, s *session, a *api, pod *corev1.Pod) error {
	var lock sync.Mutex
	var group sync.WaitGroup
	var problems []error
	var names []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		names = append(names, c.Name)
	}
	for _, name := range names {
		out := &lines{container: name, write: func(text string) {
			lock.Lock()
			defer lock.Unlock()
			_, _ = io.WriteString(s.stdout(), text) // a closed pipe ends the program
		}}
		work := func() {
			if err := l.one(ctx, a, pod, out); err != nil {
				lock.Lock()
				defer lock.Unlock()
				problems = append(problems, err)
			}
		}
		if l.follow {
			group.Go(work)
		} else {
			work()
		}
	}
	group.Wait()
	return errors.Join(problems...)
}

// one prints the log of one container, once started.
func (l *logging) one(ctx context.Context, a *api, pod *corev1.Pod, out *lines) error {
	for {
		started, why := container(pod, out.container)
		switch {
		case started:
			stream, err := a.log(ctx, pod, out.container, l.follow)
			if err != nil {
				return err
			}
			defer func() { _ = stream.Close() }() // it was only read
			return out.copy(stream)
		case !l.follow:
			out.line("(not started: " + why + ")")
			return nil
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return err
		}
		var err error
		if pod, err = a.refresh(ctx, pod); err != nil || pod == nil {
			return err // nil: the Pod ended before the container started
		}
	}
}

// refresh reads a Pod again; nil if it is gone.
func (a *api) refresh(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	var now corev1.Pod
	err := a.explain(decode(ctx, a.core.Get().Namespace(pod.Namespace).Resource("pods").Name(pod.Name), &now), aPod, pod.Name)
	switch {
	case errors.Is(err, errAbsent), err == nil && now.UID != pod.UID:
		return nil, nil
	case err == nil && (now.Status.Phase == corev1.PodFailed || now.Status.Phase == corev1.PodSucceeded):
		for _, all := range [][]corev1.ContainerStatus{now.Status.InitContainerStatuses, now.Status.ContainerStatuses} {
			for i := range all {
				all[i].State.Waiting = nil // it will not start any more
			}
		}
	}
	return &now, err
}

func container(pod *corev1.Pod, name string) (started bool, why string) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.Name != name {
			continue
		}
		if w := c.State.Waiting; w != nil {
			return false, strings.Join(present(w.Reason, w.Message), ": ")
		}
		return true, ""
	}
	return false, "the Pod is not on a node yet"
}

// lines prints a container's log line by line, escaped and prefixed with the container's name,
// without the report at the end of the runner's.
type lines struct {
	container string
	write     func(string)
	framed    bool
}

// maxLine bounds a printed line, in bytes.
const maxLine = 4096

func (l *lines) copy(from io.Reader) error {
	reader := bufio.NewReaderSize(from, maxLine)
	for {
		text, err := reader.ReadString('\n')
		if text = strings.TrimRight(text, "\r\n"); text != "" || err == nil {
			l.line(text)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log of %s: %w", l.container, err)
		}
	}
}

func (l *lines) line(text string) {
	if l.container == podspec.ContainerRunner {
		switch text {
		case report.FrameBegin:
			l.framed = true
			text = "(the report)"
		case report.FrameEnd:
			l.framed = false
			return
		default:
			if l.framed {
				return
			}
		}
	}
	more := ""
	if len(text) > maxLine {
		more = fmt.Sprintf("... (%d bytes more)", len(text)-maxLine)
		text = report.Head(text, maxLine)
	}
	l.write(fmt.Sprintf("%-8s %s%s\n", l.container, render.Escape(text), more))
}

// sleep waits or returns when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
