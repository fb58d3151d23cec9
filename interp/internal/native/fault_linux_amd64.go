package native

// This file makes faults of the host in machine code exits to Go.

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Constants of faultHandler and enter.
const (
	maxCatchingTexts = 4096
	frameMarker      = 0x67656d755f726574   // in the frame of enter, after its own address
	frameWords       = (1536 + 16 + 16) / 8 // words in which faultHandler searches the marker: the frame of enter
)

// catchingTexts has the address ranges of machine code whose faults are exits. faultHandler reads it at any time: an entry
// whose end is 0 matches no address, so the end is set last and removed first.
var catchingTexts [maxCatchingTexts]struct{ begin, end atomic.Uintptr }

// catchingMutex is held while entries of catchingTexts are added or removed.
var catchingMutex sync.Mutex

// catchFaults makes faults in the text exits. It reports false if there are too many such texts.
func (t *text) catchFaults() bool {
	catchingMutex.Lock()
	defer catchingMutex.Unlock()
	for i := range catchingTexts {
		if e := &catchingTexts[i]; e.end.Load() == 0 {
			begin := uintptr(unsafe.Pointer(unsafe.SliceData(t.memory)))
			e.begin.Store(begin)
			e.end.Store(begin + uintptr(len(t.memory)))
			return true
		}
	}
	return false
}

// forgetText removes the memory of a text from catchingTexts, if it is there.
func forgetText(memory []byte) {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	catchingMutex.Lock()
	defer catchingMutex.Unlock()
	for i := range catchingTexts {
		if e := &catchingTexts[i]; e.end.Load() != 0 && e.begin.Load() == begin {
			e.end.Store(0)
			return
		}
	}
}

// previousHandlers has the handlers before faultHandler, by signal.
var previousHandlers [unix.SIGSEGV + 1]uintptr

// signalAction is the kernel's struct sigaction.
type signalAction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const (
	ignoreSignal = 1              // the handler SIG_IGN; SIG_DFL is 0
	actionFlags  = 4 | 0x08000000 // SA_SIGINFO, SA_ONSTACK: three arguments, and the thread's signal stack
)

// changeAction sets the action of a signal to next, unless it is nil, and returns the action before. ok is false if the host refuses.
func changeAction(signal unix.Signal, next *signalAction) (old signalAction, ok bool) {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(&old)), unsafe.Sizeof(old.mask), 0, 0)
	return old, errno == 0
}

// handlerMutex is held while handlers are installed.
var handlerMutex sync.Mutex

// CatchesFaults reports whether a fault of the host in machine code that notes its exits (Code.Catching) is an exit. The first
// call installs faultHandler in front of the handlers of Go's runtime. A program may install handlers of its own later. They
// need not pass a signal on to faultHandler, so CatchesFaults then reports false.
func CatchesFaults() bool {
	handlerMutex.Lock()
	defer handlerMutex.Unlock()
	for _, signal := range []unix.Signal{unix.SIGSEGV, unix.SIGBUS} {
		action, ok := changeAction(signal, nil)
		if !ok {
			return false
		}
		if action.handler == addressOfFaultHandler() {
			continue
		}
		if previousHandlers[signal] != 0 || action.handler <= ignoreSignal {
			return false
		}
		previousHandlers[signal] = action.handler
		action.handler, action.flags = addressOfFaultHandler(), action.flags|actionFlags
		if _, ok := changeAction(signal, &action); !ok {
			return false
		}
	}
	return true
}

func addressOfFaultHandler() uintptr
