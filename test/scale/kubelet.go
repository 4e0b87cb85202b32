package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

const (
	nodeName = "scale-node"
	// stateTime is the duration of each state of a Pod, so that the manager sees each. An audit
	// takes half a second, far less than a real one.
	stateTime = 250 * time.Millisecond
)

// kubelet simulates the scheduler and the kubelet of the only node: it binds the Pods of the run
// namespace and reports their states.
type kubelet struct {
	clients kubernetes.Interface
	canned  canned
	logs    *logServer

	mu    sync.Mutex
	taken map[types.UID]bool
	// most is the largest number of Pods at a time.
	most     int
	problems []error
}

// startKubelet registers the node and runs Pods until the context ends.
func startKubelet(ctx context.Context, clients kubernetes.Interface, c canned) (*kubelet, error) {
	logs, err := serveLogs(c)
	if err != nil {
		return nil, err
	}
	k := &kubelet{clients: clients, canned: c, logs: logs, taken: map[types.UID]bool{}}
	if err := k.register(ctx); err != nil {
		return nil, errors.Join(err, logs.close())
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(runNamespace))
	pods := factory.Core().V1().Pods().Informer()
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.see(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { k.see(ctx, o.(*corev1.Pod)) },
		DeleteFunc: k.forget,
	})
	if err != nil {
		return nil, errors.Join(err, logs.close())
	}
	factory.Start(ctx.Done())
	return k, nil
}

func (k *kubelet) register(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	created, err := k.clients.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("register node: %w", err)
	}
	created.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	created.Status.DaemonEndpoints.KubeletEndpoint.Port = k.logs.port
	created.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if _, err := k.clients.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("register node: %w", err)
	}
	return nil
}

// see runs a new Pod, and removes one that is being deleted.
func (k *kubelet) see(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	known := k.taken[pod.UID]
	k.taken[pod.UID] = true
	k.most = max(k.most, len(k.taken))
	k.mu.Unlock()
	switch {
	case pod.DeletionTimestamp != nil:
		go k.note(ctx, k.clients.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
		}))
	case !known:
		go func() { k.note(ctx, k.play(ctx, pod)) }()
	}
}

func (k *kubelet) forget(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.taken, pod.UID)
	}
}

// note records an error, except that a Pod was deleted meanwhile.
func (k *kubelet) note(ctx context.Context, err error) {
	if client.IgnoreNotFound(err) == nil || ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problems = append(k.problems, err)
}

func (k *kubelet) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return errors.Join(k.problems...)
}

// play takes a Pod through its life.
func (k *kubelet) play(ctx context.Context, pod *corev1.Pod) error {
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}
	if err := k.clients.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("bind pod: %w", err)
	}
	began := metav1.Now()
	for i, status := range []func(*corev1.Pod, metav1.Time) corev1.PodStatus{installing, started, k.ended} {
		if i > 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(stateTime):
			}
		}
		changed := status(pod, began)
		changed.StartTime, changed.HostIP, changed.PodIP = &began, "127.0.0.1", "10.0.0.1"
		patch, err := json.Marshal(map[string]any{"status": changed})
		if err != nil {
			return err
		}
		_, err = k.clients.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return fmt.Errorf("report pod: %w", err)
		}
	}
	return nil
}

// installing returns the status while the init container runs.
func installing(pod *corev1.Pod, at metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodPending}
	status.InitContainerStatuses = containers(pod.Spec.InitContainers, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}})
	status.ContainerStatuses = containers(pod.Spec.Containers, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}})
	return status
}

// started returns the status while server and runner run.
func started(pod *corev1.Pod, at metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodRunning}
	status.InitContainerStatuses = containers(pod.Spec.InitContainers, terminated(0, "Completed", "", at))
	status.ContainerStatuses = containers(pod.Spec.Containers, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}})
	return status
}

// ended returns the final status: the runner succeeded with its summary, the shim did not.
func (k *kubelet) ended(pod *corev1.Pod, at metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodFailed}
	status.InitContainerStatuses = containers(pod.Spec.InitContainers, terminated(0, "Completed", "", at))
	for _, c := range pod.Spec.Containers {
		state := terminated(125, "Error", "", at)
		if c.Name == podspec.ContainerRunner {
			state = terminated(0, "Completed", k.canned.summary, at)
		}
		status.ContainerStatuses = append(status.ContainerStatuses, containers([]corev1.Container{c}, state)...)
	}
	return status
}

func terminated(code int32, reason, message string, began metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: began, FinishedAt: metav1.NewTime(time.Now()),
	}}
}

func containers(of []corev1.Container, state corev1.ContainerState) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, c := range of {
		all = append(all, corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, State: state, Ready: state.Running != nil})
	}
	return all
}
