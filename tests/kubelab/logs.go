package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"
)

// serveLogs answers the API server for the output of all pods, as kubelets do, and returns the port.
// A pod says its name and a second line.
func serveLogs() (int32, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return 0, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	made, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return 0, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{made}, PrivateKey: key}}})
	if err != nil {
		return 0, err
	}
	handler := http.NewServeMux()
	handler.HandleFunc("/containerLogs/", func(answer http.ResponseWriter, request *http.Request) {
		// /containerLogs/NAMESPACE/POD/CONTAINER
		if words := strings.Split(request.URL.Path, "/"); len(words) == 5 {
			fmt.Fprintf(answer, "output of %s\nend\n", words[3])
		}
	})
	go func() { _ = http.Serve(listener, handler) }()
	return int32(listener.Addr().(*net.TCPAddr).Port), nil
}
