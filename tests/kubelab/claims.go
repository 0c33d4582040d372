package main

import (
	"context"
	"encoding/json"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claim is what all versions of a ResourceClaim's status have.
type claim struct {
	Status struct {
		Allocation *struct {
			Devices struct {
				Results []struct{ Driver, Pool, Device string }
			}
		}
		ReservedFor []struct{ UID types.UID }
	}
}

// prepare does what a kubelet and a DRA driver do before a pod starts: its claims are allocated and
// reserved for it. A device that another pod has is the reason why it never starts.
func (f *fakeNodes) prepare(ctx context.Context, pod *core.Pod) (ready bool, reason string) {
	names := pod.Status.ResourceClaimStatuses // made from templates
	for _, wanted := range pod.Spec.ResourceClaims {
		if wanted.ResourceClaimName != nil {
			names = append(names, core.PodResourceClaimStatus{ResourceClaimName: wanted.ResourceClaimName})
		}
	}
	var devices []string
	for _, each := range names {
		var found claim
		for _, version := range []string{"v1", "v1beta1"} {
			path := "/apis/resource.k8s.io/" + version + "/namespaces/" + pod.Namespace + "/resourceclaims/" + *each.ResourceClaimName
			text, err := f.client.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			if err == nil && json.Unmarshal(text, &found) == nil {
				break
			}
		}
		status := found.Status
		if status.Allocation == nil || len(status.ReservedFor) != 1 || status.ReservedFor[0].UID != pod.UID {
			return false, ""
		}
		for _, device := range status.Allocation.Devices.Results {
			devices = append(devices, device.Driver+"/"+device.Pool+"/"+device.Device)
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, device := range devices {
		if holder, held := f.devices[device]; held && holder != pod.UID {
			return false, "DeviceHeldTwice"
		}
		f.devices[device] = pod.UID
	}
	return len(names) == len(pod.Spec.ResourceClaims), ""
}
