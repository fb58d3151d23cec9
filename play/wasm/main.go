//go:build js && wasm

// Command wasm is the engine of the page in a worker of a browser, or in Node. It defines functions of the global object,
//
//	gemuRun(request: string): Uint8Array   runs a request (play.Request as JSON); the result is play.Response.Encode
//	gemuPolicies(): string                 play.Policies as JSON
//
// and then calls the function gemuReady, if there is one. A run cannot be interrupted: the page ends the worker.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"gemu/play"
)

// memoryLimit is the size of Go's heap from which the collector works harder, in bytes. A browser gives a module at most 4 GiB.
const memoryLimit = 2 << 30

func main() {
	debug.SetMemoryLimit(memoryLimit)
	global := js.Global()
	engine := &play.Engine{}
	global.Set("gemuRun", js.FuncOf(func(_ js.Value, args []js.Value) any {
		b := run(engine, args[0].String())
		array := global.Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(array, b)
		return array
	}))
	global.Set("gemuPolicies", js.FuncOf(func(js.Value, []js.Value) any {
		text, err := json.Marshal(play.Policies())
		if err != nil { // policies are texts
			panic(err)
		}
		return string(text)
	}))
	if ready := global.Get("gemuReady"); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {}
}

// run runs a request. A panic of the engine becomes a response, because the page could not show it otherwise.
func run(engine *play.Engine, request string) (b []byte) {
	defer func() {
		if r := recover(); r != nil {
			b = (&play.Response{Status: play.Failed, Message: fmt.Sprintf("internal error of gemu, please report it: %v", r)}).Encode()
		}
	}()
	response, err := engine.RunJSON(context.Background(), []byte(request))
	if err != nil {
		response = &play.Response{Status: play.Failed, Message: err.Error()}
	}
	return response.Encode()
}
