// A Kubernetes control plane as one program, for tests: each component is a sub-command and runs
// as a process of its own, so that a test can kill it alone. kube_site.py starts them.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = "usage: kubelab etcd|nodes|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl OPTIONS"

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubelab:", err)
		os.Exit(1)
	}
}

func localURL(port int) []url.URL {
	return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}
}

// runEtcd stores in `folder` without fsync: what a power failure would lose does not matter here.
func runEtcd(ctx context.Context, args []string) {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	folder := flags.String("folder", "", "data folder")
	port := flags.Int("port", 0, "port for clients")
	peerPort := flags.Int("peer-port", 0, "port for peers")
	fail(flags.Parse(args))
	config := embed.NewConfig()
	config.Dir = *folder
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	config.ListenClientUrls, config.AdvertiseClientUrls = localURL(*port), localURL(*port)
	config.ListenPeerUrls, config.AdvertisePeerUrls = localURL(*peerPort), localURL(*peerPort)
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	fail(err)
	select {
	case <-ctx.Done():
		server.Close()
	case err := <-server.Err():
		fail(err)
	}
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf(usage))
	}
	name, rest := os.Args[1], os.Args[2:]
	os.Args = append([]string{name}, rest...)
	switch name {
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	switch name {
	case "etcd":
		runEtcd(ctx, rest)
	case "nodes":
		runNodes(ctx, rest)
	default:
		fail(fmt.Errorf(usage))
	}
}
