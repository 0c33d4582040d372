// A real kubelet on a fake runtime, kubemark's hollow node: it admits pods as kubelets do, and their
// containers run nothing. kube_site.py starts it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	kubemark "k8s.io/kubernetes/cmd/kubemark/app"
)

func main() {
	os.Exit(cli.Run(kubemark.NewHollowNodeCommand()))
}
