// go_fasthttp PORT THREADS: answers 200 "Hello, World!" to every request, on 127.0.0.1.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/valyala/fasthttp"
)

var hello = []byte("Hello, World!")

func answer(context *fasthttp.RequestCtx) {
	context.SetContentType("text/plain")
	context.Response.SetBodyRaw(hello)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go_fasthttp PORT THREADS")
		os.Exit(2)
	}
	threads, err := strconv.Atoi(os.Args[2])
	if err != nil || threads < 1 {
		fmt.Fprintf(os.Stderr, "go_fasthttp: THREADS is %q, expected a number from 1\n", os.Args[2])
		os.Exit(2)
	}
	runtime.GOMAXPROCS(threads)
	server := &fasthttp.Server{Handler: answer, Name: "fasthttp", ReadBufferSize: 32 * 1024}
	if err := server.ListenAndServe("127.0.0.1:" + os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "go_fasthttp:", err)
		os.Exit(1)
	}
}
