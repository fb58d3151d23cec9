// Package process is the driver of a C process, for the shared libraries: there is
// one, made when it is first used, from the environment at the time the library was
// loaded. It knows the process's threads, and ends with the process.
package process

/*
#cgo LDFLAGS: -Wl,-wrap=crosscall2
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "environment.h"
#include "thread.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"gemu/driver"
)

// SuppressErrors keeps the driver from printing messages, for a library that has other ways
// to tell them. It is set before the driver is made.
var SuppressErrors bool

var (
	drv     *driver.Driver
	drvErr  error
	threads sync.Map // of *Client, by thread number

	callbacks sync.Map // numbers of the threads that run a function of the process for a stream

	start = sync.OnceFunc(func() {
		s := driver.DefaultSettings()
		s.Stdout = stdout{}
		if !SuppressErrors {
			s.Stderr = os.Stderr
		}
		if drvErr = s.Environment(getenv); drvErr != nil {
			fmt.Fprintf(os.Stderr, "gemu: %v\n", drvErr)
			return
		}
		drv = driver.New(s)
		C.process_at_exit()
	})
)

// stdout is the process's standard output, for what kernels print. It is a stream of the host (CUDA C++ Programming
// Guide, Formatted Output): what C has printed before, and still buffers, comes before.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	C.fflush(C.stdout)
	return os.Stdout.Write(p)
}

// getenv is the value that an environment variable had when the library was loaded, ""
// if it was not set.
func getenv(name string) string {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.GoString(C.process_getenv(n))
}

// Driver is the process's driver. The error is one of the environment, which was
// printed when it was found. In a child of fork nobody gets here.
func Driver() (*driver.Driver, error) {
	C.process_enter()
	start()
	return drv, drvErr
}

// Client is the driver as a thread of C sees it.
type Client struct {
	*driver.Thread
	Local any // what the library keeps of the thread
}

// Thread is the calling thread of C.
func Thread() (*Client, error) {
	d, err := Driver()
	if err != nil {
		return nil, err
	}
	id := uint64(C.process_thread())
	if t, ok := threads.Load(id); ok {
		return t.(*Client), nil
	}
	for ended := C.process_thread_ended(); ended != 0; ended = C.process_thread_ended() {
		threads.Delete(uint64(ended))
	}
	t := &Client{Thread: d.NewThread()}
	threads.Store(id, t)
	return t, nil
}

// CallFromStream calls a function of the process in a stream's turn. If it ends the process, the driver knows that the
// stream does not go on.
func CallFromStream(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id := uint64(C.process_thread())
	callbacks.Store(id, true)
	defer callbacks.Delete(id)
	f()
}

// process_started returns when Go has started.
//
//export process_started
func process_started() {}

//export process_exit
func process_exit() {
	_, inStream := callbacks.Load(uint64(C.process_thread()))
	err := drv.Exit(inStream)
	if err != nil {
		fmt.Fprintf(os.Stderr, "gemu: %v\n", err)
	}
	var found *driver.Found
	if errors.As(err, &found) { // handlers that were registered before ours do not run
		C.fflush(nil)
		C._exit(C.int(found.Status))
	}
}
