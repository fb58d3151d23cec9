package main

// This file exports streams and events.

/*
#include "cuda_types.h"

static inline void gemu_call_host(CUhostFn f, void *user) { f(user); }
static inline void gemu_call_stream(CUstreamCallback f, CUstream s, CUresult r, void *user) { f(s, r, user); }
*/
import "C"

import (
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
)

// hostFunction wraps a function of the client.
func hostFunction(f C.CUhostFn, user unsafe.Pointer) driver.HostFunc {
	return driver.HostFunc{Call: func() { process.CallFromStream(func() { C.gemu_call_host(f, user) }) }, Function: unsafe.Pointer(f), Data: user}
}

//export cuStreamCreate
func cuStreamCreate(stream *C.CUstream, flags C.uint) C.CUresult {
	return storeThreadValue("cuStreamCreate", stream, func(t *driver.Thread) (driver.Handle, error) { return t.StreamCreate(uint32(flags), 0) })
}

//export cuStreamCreateWithPriority
func cuStreamCreateWithPriority(stream *C.CUstream, flags C.uint, priority C.int) C.CUresult {
	return storeThreadValue("cuStreamCreateWithPriority", stream, func(t *driver.Thread) (driver.Handle, error) {
		return t.StreamCreate(uint32(flags), int(priority))
	})
}

//export cuStreamDestroy_v2
func cuStreamDestroy_v2(stream C.CUstream) C.CUresult {
	return callThread("cuStreamDestroy_v2", func(t *driver.Thread) error { return t.StreamDestroy(driver.Handle(stream)) })
}

//export cuStreamQuery
func cuStreamQuery(stream C.CUstream) C.CUresult {
	return callThread("cuStreamQuery", func(t *driver.Thread) error { return t.StreamQuery(driver.Handle(stream)) })
}

//export cuStreamSynchronize
func cuStreamSynchronize(stream C.CUstream) C.CUresult {
	return callThread("cuStreamSynchronize", func(t *driver.Thread) error { return t.StreamSynchronize(driver.Handle(stream)) })
}

//export cuStreamWaitEvent
func cuStreamWaitEvent(stream C.CUstream, event C.CUevent, flags C.uint) C.CUresult {
	return callThread("cuStreamWaitEvent", func(t *driver.Thread) error {
		return t.StreamWaitEvent(driver.Handle(stream), driver.Handle(event), uint32(flags))
	})
}

//export cuStreamGetFlags
func cuStreamGetFlags(stream C.CUstream, flags *C.uint) C.CUresult {
	return storeThreadValue("cuStreamGetFlags", flags, func(t *driver.Thread) (uint32, error) { return t.StreamGetFlags(driver.Handle(stream)) })
}

//export cuStreamGetPriority
func cuStreamGetPriority(stream C.CUstream, priority *C.int) C.CUresult {
	return storeThreadValue("cuStreamGetPriority", priority, func(t *driver.Thread) (int, error) { return t.StreamGetPriority(driver.Handle(stream)) })
}

//export cuStreamGetCtx
func cuStreamGetCtx(stream C.CUstream, ctx *C.CUcontext) C.CUresult {
	return storeThreadValue("cuStreamGetCtx", ctx, func(t *driver.Thread) (driver.Handle, error) { return t.StreamGetCtx(driver.Handle(stream)) })
}

//export cuStreamGetDevice
func cuStreamGetDevice(stream C.CUstream, dev *C.CUdevice) C.CUresult {
	return storeThreadValue("cuStreamGetDevice", dev, func(t *driver.Thread) (int, error) { return t.StreamGetDevice(driver.Handle(stream)) })
}

//export cuStreamGetId
func cuStreamGetId(stream C.CUstream, id *C.uint64_t) C.CUresult {
	return storeThreadValue("cuStreamGetId", id, func(t *driver.Thread) (uint64, error) { return t.StreamGetID(driver.Handle(stream)) })
}

//export cuStreamSetAttribute
func cuStreamSetAttribute(stream C.CUstream, id C.int, value *C.CUlaunchAttributeValue) C.CUresult {
	return callThread("cuStreamSetAttribute", func(t *driver.Thread) error {
		if value == nil {
			return driver.InvalidValue
		}
		return t.StreamSetAttribute(driver.Handle(stream), driver.StreamAttribute(id), *(*driver.AttributeValue)(unsafe.Pointer(value)))
	})
}

//export cuStreamGetAttribute
func cuStreamGetAttribute(stream C.CUstream, id C.int, value *C.CUlaunchAttributeValue) C.CUresult {
	return callThread("cuStreamGetAttribute", func(t *driver.Thread) error {
		if value == nil {
			return driver.InvalidValue
		}
		v, err := t.StreamGetAttribute(driver.Handle(stream), driver.StreamAttribute(id))
		if err == nil {
			*(*driver.AttributeValue)(unsafe.Pointer(value)) = v
		}
		return err
	})
}

//export cuStreamCopyAttributes
func cuStreamCopyAttributes(to, from C.CUstream) C.CUresult {
	return callThread("cuStreamCopyAttributes", func(t *driver.Thread) error {
		return t.StreamCopyAttributes(driver.Handle(to), driver.Handle(from))
	})
}

//export cuStreamAddCallback
func cuStreamAddCallback(stream C.CUstream, f C.CUstreamCallback, user unsafe.Pointer, flags C.uint) C.CUresult {
	return callThread("cuStreamAddCallback", func(t *driver.Thread) error {
		if f == nil || flags != 0 {
			return driver.InvalidValue
		}
		return t.StreamAddCallback(driver.Handle(stream), func(r driver.Result) {
			process.CallFromStream(func() { C.gemu_call_stream(f, stream, C.CUresult(r), user) })
		})
	})
}

//export cuLaunchHostFunc
func cuLaunchHostFunc(stream C.CUstream, f C.CUhostFn, user unsafe.Pointer) C.CUresult {
	return callThread("cuLaunchHostFunc", func(t *driver.Thread) error {
		if f == nil {
			return driver.InvalidValue
		}
		return t.LaunchHostFunc(driver.Handle(stream), hostFunction(f, user))
	})
}

//export cuEventCreate
func cuEventCreate(event *C.CUevent, flags C.uint) C.CUresult {
	return storeThreadValue("cuEventCreate", event, func(t *driver.Thread) (driver.Handle, error) { return t.EventCreate(uint32(flags)) })
}

//export cuEventDestroy_v2
func cuEventDestroy_v2(event C.CUevent) C.CUresult {
	return callThread("cuEventDestroy_v2", func(t *driver.Thread) error { return t.EventDestroy(driver.Handle(event)) })
}

//export cuEventRecord
func cuEventRecord(event C.CUevent, stream C.CUstream) C.CUresult {
	return callThread("cuEventRecord", func(t *driver.Thread) error { return t.EventRecord(driver.Handle(event), driver.Handle(stream)) })
}

//export cuEventRecordWithFlags
func cuEventRecordWithFlags(event C.CUevent, stream C.CUstream, flags C.uint) C.CUresult {
	return callThread("cuEventRecordWithFlags", func(t *driver.Thread) error {
		return t.EventRecordWithFlags(driver.Handle(event), driver.Handle(stream), uint32(flags))
	})
}

//export cuEventQuery
func cuEventQuery(event C.CUevent) C.CUresult {
	return callThread("cuEventQuery", func(t *driver.Thread) error { return t.EventQuery(driver.Handle(event)) })
}

//export cuEventSynchronize
func cuEventSynchronize(event C.CUevent) C.CUresult {
	return callThread("cuEventSynchronize", func(t *driver.Thread) error { return t.EventSynchronize(driver.Handle(event)) })
}

//export cuEventElapsedTime
func cuEventElapsedTime(ms *C.float, start, end C.CUevent) C.CUresult {
	return storeThreadValue("cuEventElapsedTime", ms, func(t *driver.Thread) (float32, error) {
		return t.EventElapsedTime(driver.Handle(start), driver.Handle(end))
	})
}

// memoryOp implements the calls for a single memory operation.
func memoryOp(call string, stream C.CUstream, op driver.MemoryOp) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		return t.StreamMemoryOps(driver.Handle(stream), []driver.MemoryOp{op}, 0)
	})
}

//export cuStreamWaitValue32_v2
func cuStreamWaitValue32_v2(stream C.CUstream, addr C.CUdeviceptr, value C.uint32_t, flags C.uint) C.CUresult {
	return memoryOp("cuStreamWaitValue32", stream, driver.MemoryOp{Kind: driver.WaitValue32, Addr: uint64(addr), Value: uint64(value), Flags: uint32(flags)})
}

//export cuStreamWaitValue64_v2
func cuStreamWaitValue64_v2(stream C.CUstream, addr C.CUdeviceptr, value C.uint64_t, flags C.uint) C.CUresult {
	return memoryOp("cuStreamWaitValue64", stream, driver.MemoryOp{Kind: driver.WaitValue64, Addr: uint64(addr), Value: uint64(value), Flags: uint32(flags)})
}

//export cuStreamWriteValue32_v2
func cuStreamWriteValue32_v2(stream C.CUstream, addr C.CUdeviceptr, value C.uint32_t, flags C.uint) C.CUresult {
	return memoryOp("cuStreamWriteValue32", stream, driver.MemoryOp{Kind: driver.WriteValue32, Addr: uint64(addr), Value: uint64(value), Flags: uint32(flags)})
}

//export cuStreamWriteValue64_v2
func cuStreamWriteValue64_v2(stream C.CUstream, addr C.CUdeviceptr, value C.uint64_t, flags C.uint) C.CUresult {
	return memoryOp("cuStreamWriteValue64", stream, driver.MemoryOp{Kind: driver.WriteValue64, Addr: uint64(addr), Value: uint64(value), Flags: uint32(flags)})
}

//export cuStreamBatchMemOp_v2
func cuStreamBatchMemOp_v2(stream C.CUstream, n C.uint, list *C.CUstreamBatchMemOpParams, flags C.uint) C.CUresult {
	return callThread("cuStreamBatchMemOp", func(t *driver.Thread) error {
		all, err := items(list, n, driver.MaxMemoryOps)
		if err != nil {
			return err
		}
		var ops []driver.MemoryOp
		for _, p := range all {
			op := driver.MemoryOp{Kind: driver.MemoryOpKind(p.operation), Addr: uint64(p.address), Value: uint64(p.value), Flags: uint32(p.flags)}
			if op.Kind == driver.MemoryBarrier {
				op = driver.MemoryOp{Kind: op.Kind, Flags: uint32(p.barrierFlags)}
			}
			ops = append(ops, op)
		}
		return t.StreamMemoryOps(driver.Handle(stream), ops, uint32(flags))
	})
}
