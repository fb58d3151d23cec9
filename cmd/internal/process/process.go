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
	"io"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"gemu/driver"
)

// SuppressErrors keeps the driver from printing messages, for a library that reports errors itself. It must be set
// before the driver is made.
var SuppressErrors bool

// Messages takes the messages of a library to the user: standard error, as plain text if GEMU_PLAIN asks for it.
var Messages io.Writer = os.Stderr

var (
	drv     *driver.Driver
	drvErr  error
	threads sync.Map // values are *Client, by thread number

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
		Messages = s.PlainText(os.Stderr)
		drv = driver.New(s)
		C.process_at_exit()
	})
)

// stdout is the standard output of the process, for the output of kernels. It is a stream of the host (CUDA C++
// Programming Guide, Formatted Output): buffered output of the C program is written first.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	C.fflush(C.stdout)
	return os.Stdout.Write(p)
}

// getenv returns the value of an environment variable when the library was loaded, "" if it was not set.
func getenv(name string) string {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.GoString(C.process_getenv(n))
}

// Driver returns the process's driver. The error reports an invalid environment; it was printed when it was found.
// Driver is never called in a child of fork.
func Driver() (*driver.Driver, error) {
	C.process_enter()
	start()
	return drv, drvErr
}

// Client is the view of a C thread on the driver.
type Client struct {
	*driver.Thread
	Local any // data of the library about the thread
}

// Thread returns the Client of the calling C thread.
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

// CallFromStream calls a function of the process from a stream. If the function ends the process, the driver knows that
// the stream makes no progress.
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
		fmt.Fprintf(Messages, "gemu: %v\n", err)
	}
	var found *driver.Found
	if errors.As(err, &found) { // exit handlers registered before ours do not run
		C.fflush(nil)
		C._exit(C.int(found.Status))
	}
}
