// Package process is the driver of a C process, for the shared libraries: there is
// one, made when it is first used, from the environment. It knows the process's
// threads, and ends with the process.
package process

/*
#include "thread.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"

	"gemu/driver"
)

var (
	drv     *driver.Driver
	drvErr  error
	threads sync.Map // of *driver.Thread, by thread number

	start = sync.OnceFunc(func() {
		s := driver.DefaultSettings()
		s.Stdout, s.Stderr = os.Stdout, os.Stderr
		if drvErr = s.Environment(os.Getenv); drvErr != nil {
			fmt.Fprintf(os.Stderr, "gemu: %v\n", drvErr)
			return
		}
		drv = driver.New(s)
		C.gemu_at_exit()
	})
)

// Driver is the process's driver. The error is one of the environment, which was
// printed when it was found.
func Driver() (*driver.Driver, error) {
	start()
	return drv, drvErr
}

// Thread is the driver as the calling thread of C sees it.
func Thread() (*driver.Thread, error) {
	d, err := Driver()
	if err != nil {
		return nil, err
	}
	id := uint64(C.gemu_thread())
	if t, ok := threads.Load(id); ok {
		return t.(*driver.Thread), nil
	}
	for ended := C.gemu_thread_ended(); ended != 0; ended = C.gemu_thread_ended() {
		threads.Delete(uint64(ended))
	}
	t := d.NewThread()
	threads.Store(id, t)
	return t, nil
}

//export gemu_process_exit
func gemu_process_exit() {
	if err := drv.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "gemu: %v\n", err)
	}
}
