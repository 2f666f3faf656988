// fasthttp with its router, its own compression and file server, and fasthttp's WebSocket. It has no HTTP/2.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fasthttp/router"
	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"katana/lab/arena/rivals/go_common"
)

const uploadBytesMax = 64 << 20

var upgrader = websocket.FastHTTPUpgrader{}

func text(context *fasthttp.RequestCtx, number int) {
	context.SetContentType("text/plain")
	context.SetBodyString(strconv.Itoa(number))
}

func sum(context *fasthttp.RequestCtx) {
	a, wrongA := context.QueryArgs().GetUint("a")
	b, wrongB := context.QueryArgs().GetUint("b")
	if wrongA != nil || wrongB != nil {
		context.Error("a and b are numbers", fasthttp.StatusBadRequest)
		return
	}
	if context.IsPost() {
		third, err := strconv.Atoi(strings.TrimSpace(string(context.PostBody())))
		if err != nil {
			context.Error("the body is a number", fasthttp.StatusBadRequest)
			return
		}
		a += third
	}
	text(context, a+b)
}

func pipeline(context *fasthttp.RequestCtx) {
	context.SetContentType("text/plain")
	context.SetBodyString("ok")
}

func priced(items []go_common.Item) fasthttp.RequestHandler {
	return func(context *fasthttp.RequestCtx) {
		count, err := strconv.Atoi(context.UserValue("count").(string))
		m := context.QueryArgs().GetUintOrZero("m")
		if !context.QueryArgs().Has("m") {
			m = 1
		}
		if err != nil {
			context.Error("count is a number", fasthttp.StatusBadRequest)
			return
		}
		context.SetContentType("application/json")
		json.NewEncoder(context).Encode(go_common.Price(items, count, m))
	}
}

func delay(context *fasthttp.RequestCtx) {
	ms, err := strconv.Atoi(context.UserValue("ms").(string))
	if err != nil {
		context.Error("ms is a number", fasthttp.StatusBadRequest)
		return
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	text(context, ms)
}

func echoBody(context *fasthttp.RequestCtx) {
	context.SetContentType("application/octet-stream")
	context.SetBody(context.PostBody())
}

func upload(context *fasthttp.RequestCtx) {
	size, err := io.Copy(io.Discard, context.RequestBodyStream())
	if err != nil {
		context.Error("the body broke off", fasthttp.StatusBadRequest)
		return
	}
	text(context, int(size))
}

func echo(context *fasthttp.RequestCtx) {
	err := upgrader.Upgrade(context, func(connection *websocket.Conn) {
		for {
			kind, message, err := connection.ReadMessage()
			if err != nil || connection.WriteMessage(kind, message) != nil {
				return
			}
		}
	})
	if err != nil && context.Response.StatusCode() < 400 {
		context.Error("not a WebSocket handshake", fasthttp.StatusBadRequest)
	}
}

// Compressed files are kept on disk, in a folder of their own, as fasthttp's documents say.
func files(folder string) fasthttp.RequestHandler {
	compressed, err := os.MkdirTemp("", "fasthttp-files-")
	if err != nil {
		go_common.Fail(err)
	}
	served := fasthttp.FS{Root: folder, Compress: true, CompressBrotli: true, CompressRoot: compressed,
		AcceptByteRange: true, PathRewrite: fasthttp.NewPathSlashesStripper(1)}
	return served.NewRequestHandler()
}

func main() {
	flags := go_common.Read()
	routes := router.New()
	routes.GET("/baseline11", sum)
	routes.POST("/baseline11", sum)
	routes.GET("/pipeline", pipeline)
	routes.GET("/json/{count}", fasthttp.CompressHandlerBrotliLevel(priced(flags.Items()),
		fasthttp.CompressBrotliDefaultCompression, fasthttp.CompressDefaultCompression))
	routes.GET("/delay/{ms}", delay)
	routes.POST("/echo", echoBody)
	routes.POST("/upload", upload)
	routes.GET("/ws", echo)
	routes.GET("/static/{name}", files(flags.Static))
	server := &fasthttp.Server{Handler: routes.Handler, Name: "fasthttp", MaxRequestBodySize: uploadBytesMax,
		StreamRequestBody: true, CloseOnShutdown: true}
	failed := make(chan error)
	if flags.H1 != 0 {
		go func() { failed <- server.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", flags.H1)) }()
	}
	if flags.H1TLS != 0 {
		go func() {
			failed <- server.ListenAndServeTLS(fmt.Sprintf("127.0.0.1:%d", flags.H1TLS), flags.Cert, flags.Key)
		}()
	}
	go_common.Fail(<-failed)
}

// SPDX-License-Identifier: Apache-2.0
