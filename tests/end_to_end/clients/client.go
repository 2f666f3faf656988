// Go's net/http: HTTP/1.1 and HTTP/2 over TLS, many requests at once, uploads that come back.
package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

func fail(what ...any) {
	fmt.Fprintln(os.Stderr, what...)
	os.Exit(1)
}

func ask(client *http.Client, url string, protocol string) {
	var group sync.WaitGroup
	for number := 0; number < 50; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			content := bytes.Repeat([]byte{byte(number)}, number*4000)
			reply, err := client.Post(url+"/echo", "application/octet-stream", bytes.NewReader(content))
			if err != nil {
				fail(protocol, err)
			}
			defer reply.Body.Close()
			echoed, err := io.ReadAll(reply.Body)
			if err != nil || reply.StatusCode != 200 || reply.Proto != protocol || !bytes.Equal(echoed, content) {
				fail(protocol, number, reply.Proto, reply.StatusCode, len(echoed), err)
			}
		}()
	}
	group.Wait()
	fmt.Println(protocol, "50 echoes")
}

func main() {
	ask(&http.Client{}, os.Args[1], "HTTP/1.1")
	secure := func(http2 bool) *http.Client {
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2}
		if !http2 {
			transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		return &http.Client{Transport: transport}
	}
	ask(secure(false), os.Args[2], "HTTP/1.1")
	ask(secure(true), os.Args[2], "HTTP/2.0")
}
