package process

/*
#cgo !windows LDFLAGS: -Wl,-wrap=crosscall2
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

// Messages is the writer for messages of a library to the user. It writes to standard error; with GEMU_PLAIN=1 it converts
// messages to plain text.
var Messages io.Writer = os.Stderr

var (
	drv     *driver.Driver
	drvErr  error
	threads sync.Map // *Client by thread number (uint64)

	callbacks sync.Map // thread numbers (uint64) of the threads that run a function of the process for a stream

	// start makes the driver, or sets drvErr.
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

// stdout writes the output of kernels to the standard output of the process. Buffered output of the C program is written
// first, because kernels print to the host's output stream (CUDA C++ Programming Guide, "Formatted Output").
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	C.fflush(C.stdout)
	return os.Stdout.Write(p)
}

// getenv returns the value that an environment variable had when the library was loaded, or "" if it was not set.
func getenv(name string) string {
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	return C.GoString(C.process_getenv(cName))
}

// Driver returns the process's driver, and makes it at the first call. It returns an error if an environment variable has
// an invalid value; the first call has printed the error. Driver is never called in a child of fork: see thread.c.
func Driver() (*driver.Driver, error) {
	C.process_enter()
	start()
	return drv, drvErr
}

// Client holds the driver.Thread of a C thread.
type Client struct {
	*driver.Thread
	Local any // data that a library keeps for the thread
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

// CallFromStream calls f, a function of the process, from a stream. If f ends the process, Driver.Exit knows that this
// stream can make no progress.
func CallFromStream(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id := uint64(C.process_thread())
	callbacks.Store(id, true)
	defer callbacks.Delete(id)
	f()
}

// process_started does nothing. A call from C returns when Go's runtime has started.
//
//export process_started
func process_started() {}

// process_exit ends the driver. If sanitizers demand an exit status, it ends the process with that status.
//
//export process_exit
func process_exit() {
	_, inStream := callbacks.Load(uint64(C.process_thread()))
	err := drv.Exit(inStream)
	if err != nil {
		fmt.Fprintf(Messages, "gemu: %v\n", err)
	}
	var found *driver.Found
	if errors.As(err, &found) { // _exit: handlers that the program registered before this one do not run
		C.fflush(nil)
		C._exit(C.int(found.Status))
	}
}
