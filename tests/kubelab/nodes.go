package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const gpuResource = "nvidia.com/gpu"

// fakeNodes answers for the kubelets of all nodes. A node is silent while the file SILENT/NAME
// exists. A pod runs for as long as its annotation kubelab/run-s says (default: until it is
// deleted) and ends with the exit code kubelab/exit-code. Its seconds take as many times as long as
// kubelab/slow says of the slowest of its GPUs: {"NODE/INDEX": TIMES}.
type fakeNodes struct {
	client  kubernetes.Interface
	silent  string
	logs    int32 // port
	gpus    int64
	mutex   sync.Mutex
	known   map[string]bool
	holding map[string]map[types.UID]int64 // node, pod: GPUs of admitted pods
	serving map[types.UID]bool
	devices map[string]types.UID // of drivers, held by pods
}

func (f *fakeNodes) isSilent(node string) bool {
	if f.silent == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(f.silent, node))
	return err == nil
}

func readyStatus(now meta.Time) core.NodeCondition {
	return core.NodeCondition{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: now, LastTransitionTime: now}
}

func (f *fakeNodes) register(ctx context.Context, name string) error {
	amounts := core.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("512Gi"),
		"pods": resource.MustParse("500")}
	if f.gpus > 0 {
		amounts[gpuResource] = *resource.NewQuantity(f.gpus, resource.DecimalSI)
	}
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{
		"kubernetes.io/hostname": name, "goban.dev/managed": "true", "nvidia.com/gpu.product": "Lab-GPU"}}}
	_, err := f.client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{})
	if err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	if node, err = f.client.CoreV1().Nodes().Get(ctx, name, meta.GetOptions{}); err != nil {
		return err
	}
	node.Status.Capacity, node.Status.Allocatable = amounts, amounts
	node.Status.Addresses = []core.NodeAddress{{Type: core.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = f.logs
	node.Status.Conditions = []core.NodeCondition{readyStatus(meta.Now())}
	_, err = f.client.CoreV1().Nodes().UpdateStatus(ctx, node, meta.UpdateOptions{})
	return err
}

// renew writes the node's Lease, and Ready again where the controllers have set it otherwise.
func (f *fakeNodes) renew(ctx context.Context, name string) error {
	leases := f.client.CoordinationV1().Leases("kube-node-lease")
	now, seconds := meta.NowMicro(), int32(40)
	lease, err := leases.Get(ctx, name, meta.GetOptions{})
	if errors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: name},
			Spec: coordination.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &now}},
			meta.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	if _, err = leases.Update(ctx, lease, meta.UpdateOptions{}); err != nil {
		return err
	}
	node, err := f.client.CoreV1().Nodes().Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	for i, condition := range node.Status.Conditions {
		if condition.Type == core.NodeReady && condition.Status != core.ConditionTrue {
			node.Status.Conditions[i] = readyStatus(meta.Now())
			_, err = f.client.CoreV1().Nodes().UpdateStatus(ctx, node, meta.UpdateOptions{})
		}
	}
	return err
}

func (f *fakeNodes) live(ctx context.Context, name string, period time.Duration) {
	for registered := false; ctx.Err() == nil; {
		if f.isSilent(name) {
			registered = false // a kubelet that is back says all of its node anew
		} else {
			var err error
			if !registered {
				err = f.register(ctx, name)
			}
			if registered = registered || err == nil; registered {
				_ = f.renew(ctx, name)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(period):
		}
	}
}

func gpusOf(pod *core.Pod) (sum int64) {
	for _, container := range pod.Spec.Containers {
		amount := container.Resources.Limits[gpuResource]
		sum += amount.Value()
	}
	return sum
}

// admit takes the pod's GPUs, as a kubelet does before it starts the pod.
func (f *fakeNodes) admit(pod *core.Pod) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	held := f.holding[pod.Spec.NodeName]
	if held == nil {
		held = map[types.UID]int64{}
		f.holding[pod.Spec.NodeName] = held
	}
	sum := gpusOf(pod)
	for uid, gpus := range held {
		if uid != pod.UID {
			sum += gpus
		}
	}
	if sum > f.gpus {
		return false
	}
	held[pod.UID] = gpusOf(pod)
	return true
}

func (f *fakeNodes) setPhase(ctx context.Context, pod *core.Pod, phase core.PodPhase, reason string, code int32) {
	now := meta.Now()
	status := *pod.Status.DeepCopy()
	status.Phase, status.Reason, status.StartTime = phase, reason, &now
	state := core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}
	ready := core.ConditionTrue
	if phase != core.PodRunning {
		state = core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: code, StartedAt: now, FinishedAt: now}}
		ready = core.ConditionFalse
	}
	status.Conditions = append(status.Conditions, core.PodCondition{Type: core.PodReady, Status: ready, LastTransitionTime: now})
	if reason == "" {
		status.ContainerStatuses = []core.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}
	}
	changed := pod.DeepCopy()
	changed.Status, changed.ResourceVersion = status, ""
	_, _ = f.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, meta.UpdateOptions{})
}

// serve takes one step with a pod of ours; each change of the pod calls it again.
func (f *fakeNodes) serve(ctx context.Context, pod *core.Pod) {
	if pod.Spec.NodeName == "" || !f.known[pod.Spec.NodeName] || f.isSilent(pod.Spec.NodeName) {
		return
	}
	over := pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed
	if over {
		f.release(pod)
	}
	if pod.DeletionTimestamp != nil {
		if !over { // without a phase the finalizer of the job controller would keep it
			f.setPhase(ctx, pod, core.PodFailed, "", 143)
		}
		none := int64(0)
		_ = f.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name,
			meta.DeleteOptions{GracePeriodSeconds: &none, Preconditions: meta.NewUIDPreconditions(string(pod.UID))})
		f.release(pod)
		return
	}
	if over {
		return
	}
	if !f.admit(pod) {
		f.setPhase(ctx, pod, core.PodFailed, "OutOf"+gpuResource, 0)
		return
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		ready, reason := f.prepare(ctx, pod)
		if reason != "" {
			f.setPhase(ctx, pod, core.PodFailed, reason, 0)
		}
		if !ready { // the resync asks again
			return
		}
	}
	if pod.Status.Phase == core.PodPending {
		f.setPhase(ctx, pod, core.PodRunning, "", 0)
	}
	if seconds, err := strconv.ParseFloat(pod.Annotations["kubelab/run-s"], 64); err == nil && f.first(pod) {
		seconds *= slownessOf(pod)
		time.AfterFunc(time.Duration(seconds*float64(time.Second)), func() { f.end(ctx, pod) })
	}
}

func slownessOf(pod *core.Pod) float64 {
	most, times := 1.0, map[string]float64{}
	_ = json.Unmarshal([]byte(pod.Annotations["kubelab/slow"]), &times)
	for _, gpu := range strings.Split(pod.Annotations["goban.dev/gpus"], ",") {
		most = max(most, times[pod.Spec.NodeName+"/"+gpu])
	}
	return most
}

func (f *fakeNodes) end(ctx context.Context, pod *core.Pod) {
	code, _ := strconv.Atoi(pod.Annotations["kubelab/exit-code"])
	phase := core.PodSucceeded
	if code != 0 {
		phase = core.PodFailed
	}
	current, err := f.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, meta.GetOptions{})
	if err == nil && current.UID == pod.UID && current.DeletionTimestamp == nil && !f.isSilent(pod.Spec.NodeName) {
		f.setPhase(ctx, current, phase, "", int32(code))
	}
}

func (f *fakeNodes) first(pod *core.Pod) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	seen := f.serving[pod.UID]
	f.serving[pod.UID] = true
	return !seen
}

func (f *fakeNodes) release(pod *core.Pod) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.holding[pod.Spec.NodeName], pod.UID)
	for device, holder := range f.devices {
		if holder == pod.UID {
			delete(f.devices, device)
		}
	}
}

func runNodes(ctx context.Context, args []string) {
	flags := flag.NewFlagSet("nodes", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "how to reach the API server")
	count := flags.Int("count", 4, "nodes")
	gpus := flags.Int64("gpus", 4, "GPUs of each")
	silent := flags.String("silent", "", "folder: a node with a file of its name there says nothing")
	period := flags.Duration("period", 2*time.Second, "between two signs of life")
	fail(flags.Parse(args))
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	fail(err)
	config.QPS, config.Burst = 1000, 2000
	client, err := kubernetes.NewForConfig(config)
	fail(err)
	f := &fakeNodes{client: client, silent: *silent, gpus: *gpus, known: map[string]bool{},
		holding: map[string]map[types.UID]int64{}, serving: map[types.UID]bool{},
		devices: map[string]types.UID{}}
	f.logs, err = serveLogs()
	fail(err)
	for i := 1; i <= *count; i++ {
		f.known[fmt.Sprintf("n%d", i)] = true
	}
	for name := range f.known {
		go f.live(ctx, name, *period)
	}
	// The resync serves pods of a node that was silent.
	factory := informers.NewSharedInformerFactory(client, time.Second)
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { go f.serve(ctx, pod.(*core.Pod)) },
		UpdateFunc: func(_, pod any) { go f.serve(ctx, pod.(*core.Pod)) },
		DeleteFunc: func(pod any) {
			if missed, ok := pod.(cache.DeletedFinalStateUnknown); ok { // removed while the API server was away
				pod = missed.Obj
			}
			if gone, ok := pod.(*core.Pod); ok {
				f.release(gone)
			}
		},
	})
	fail(err)
	factory.Start(ctx.Done())
	<-ctx.Done()
}
