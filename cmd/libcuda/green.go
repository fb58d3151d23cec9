package main

// This file exports green contexts and their multiprocessors.

/*
#include "cuda_types.h"
*/
import "C"

import "gemu/driver"

// resourceSM is CU_DEV_RESOURCE_TYPE_SM, the only supported type of resource.
const resourceSM = 1

// storeMultiprocessors stores multiprocessors as a resource, which must be of type resourceSM.
func storeMultiprocessors(to *C.CUdevResource, typ C.int, m driver.Multiprocessors, err error) error {
	switch {
	case err != nil:
		return err
	case to == nil:
		return driver.InvalidValue
	case typ != resourceSM:
		return driver.InvalidResourceType
	}
	*to = resource(m)
	return nil
}

func resource(m driver.Multiprocessors) (r C.CUdevResource) {
	r._type = resourceSM
	r.sm.smCount, r.sm.minSmPartitionSize, r.sm.smCoscheduledAlignment = C.uint(m.Count), C.uint(m.Min), C.uint(m.Alignment)
	return r
}

// multiprocessors reads a resource.
func multiprocessors(r *C.CUdevResource) (driver.Multiprocessors, error) {
	switch {
	case r == nil:
		return driver.Multiprocessors{}, driver.InvalidValue
	case r._type != resourceSM:
		return driver.Multiprocessors{}, driver.InvalidResourceType
	}
	return driver.Multiprocessors{Count: int(r.sm.smCount), Min: int(r.sm.minSmPartitionSize), Alignment: int(r.sm.smCoscheduledAlignment)}, nil
}

//export cuDeviceGetDevResource
func cuDeviceGetDevResource(dev C.CUdevice, to *C.CUdevResource, typ C.int) C.CUresult {
	return callDriver("cuDeviceGetDevResource", func(d *driver.Driver) error {
		m, err := d.DeviceGetMultiprocessors(int(dev))
		return storeMultiprocessors(to, typ, m, err)
	})
}

//export cuCtxGetDevResource
func cuCtxGetDevResource(ctx C.CUcontext, to *C.CUdevResource, typ C.int) C.CUresult {
	return callThread("cuCtxGetDevResource", func(t *driver.Thread) error {
		m, err := t.CtxGetMultiprocessors(driver.Handle(ctx))
		return storeMultiprocessors(to, typ, m, err)
	})
}

//export cuGreenCtxGetDevResource
func cuGreenCtxGetDevResource(green C.CUgreenCtx, to *C.CUdevResource, typ C.int) C.CUresult {
	return callDriver("cuGreenCtxGetDevResource", func(d *driver.Driver) error {
		m, err := d.GreenCtxGetMultiprocessors(driver.Handle(green))
		return storeMultiprocessors(to, typ, m, err)
	})
}

//export cuStreamGetDevResource
func cuStreamGetDevResource(stream C.CUstream, to *C.CUdevResource, typ C.int) C.CUresult {
	return callThread("cuStreamGetDevResource", func(t *driver.Thread) error {
		m, err := t.StreamGetMultiprocessors(driver.Handle(stream))
		return storeMultiprocessors(to, typ, m, err)
	})
}

//export cuDevSmResourceSplitByCount
func cuDevSmResourceSplitByCount(to *C.CUdevResource, n *C.uint, from, remaining *C.CUdevResource, flags, least C.uint) C.CUresult {
	return callDriver("cuDevSmResourceSplitByCount", func(d *driver.Driver) error {
		m, err := multiprocessors(from)
		switch {
		case err != nil:
			return err
		case n == nil:
			return driver.InvalidValue
		}
		groups := m.Count // without an array, count all possible groups
		if to != nil {
			groups = int(*n)
		}
		group, made, leftover, err := d.DevSmResourceSplit(m, groups, int(least), uint32(flags))
		if err != nil {
			return err
		}
		if to != nil {
			array, err := items(to, made, maxItems)
			if err != nil {
				return err
			}
			for i := range array {
				array[i] = resource(group)
			}
		}
		*n = C.uint(made)
		if remaining != nil {
			*remaining = resource(leftover)
			if leftover.Count == 0 {
				*remaining = C.CUdevResource{}
			}
		}
		return nil
	})
}

//export cuDevResourceGenerateDesc
func cuDevResourceGenerateDesc(desc *C.CUdevResourceDesc, list *C.CUdevResource, n C.uint) C.CUresult {
	return storeDriverValue("cuDevResourceGenerateDesc", desc, func(d *driver.Driver) (driver.Handle, error) {
		all, err := items(list, n, maxItems)
		if err != nil {
			return 0, err
		}
		var sms []driver.Multiprocessors
		for i := range all {
			m, err := multiprocessors(&all[i])
			if err != nil {
				return 0, err
			}
			sms = append(sms, m)
		}
		return d.DevResourceGenerateDesc(sms)
	})
}

//export cuGreenCtxCreate
func cuGreenCtxCreate(green *C.CUgreenCtx, desc C.CUdevResourceDesc, dev C.CUdevice, flags C.uint) C.CUresult {
	return storeDriverValue("cuGreenCtxCreate", green, func(d *driver.Driver) (driver.Handle, error) {
		return d.GreenCtxCreate(driver.Handle(desc), int(dev), uint32(flags))
	})
}

//export cuGreenCtxDestroy
func cuGreenCtxDestroy(green C.CUgreenCtx) C.CUresult {
	return callDriver("cuGreenCtxDestroy", func(d *driver.Driver) error { return d.GreenCtxDestroy(driver.Handle(green)) })
}

//export cuCtxFromGreenCtx
func cuCtxFromGreenCtx(ctx *C.CUcontext, green C.CUgreenCtx) C.CUresult {
	return storeDriverValue("cuCtxFromGreenCtx", ctx, func(d *driver.Driver) (driver.Handle, error) { return d.CtxFromGreenCtx(driver.Handle(green)) })
}

//export cuGreenCtxGetId
func cuGreenCtxGetId(green C.CUgreenCtx, id *C.ulonglong) C.CUresult {
	return storeDriverValue("cuGreenCtxGetId", id, func(d *driver.Driver) (uint64, error) { return d.GreenCtxGetID(driver.Handle(green)) })
}

//export cuGreenCtxStreamCreate
func cuGreenCtxStreamCreate(stream *C.CUstream, green C.CUgreenCtx, flags C.uint, priority C.int) C.CUresult {
	return storeDriverValue("cuGreenCtxStreamCreate", stream, func(d *driver.Driver) (driver.Handle, error) {
		return d.GreenCtxStreamCreate(driver.Handle(green), uint32(flags), int(priority))
	})
}

//export cuStreamGetGreenCtx
func cuStreamGetGreenCtx(stream C.CUstream, green *C.CUgreenCtx) C.CUresult {
	return storeThreadValue("cuStreamGetGreenCtx", green, func(t *driver.Thread) (driver.Handle, error) { return t.StreamGetGreenCtx(driver.Handle(stream)) })
}

//export cuCtxRecordEvent
func cuCtxRecordEvent(ctx C.CUcontext, event C.CUevent) C.CUresult {
	return callThread("cuCtxRecordEvent", func(t *driver.Thread) error { return t.CtxRecordEvent(driver.Handle(ctx), driver.Handle(event)) })
}

//export cuCtxWaitEvent
func cuCtxWaitEvent(ctx C.CUcontext, event C.CUevent) C.CUresult {
	return callThread("cuCtxWaitEvent", func(t *driver.Thread) error { return t.CtxWaitEvent(driver.Handle(ctx), driver.Handle(event)) })
}

//export cuGreenCtxRecordEvent
func cuGreenCtxRecordEvent(green C.CUgreenCtx, event C.CUevent) C.CUresult {
	return callThread("cuGreenCtxRecordEvent", func(t *driver.Thread) error {
		return t.GreenCtxRecordEvent(driver.Handle(green), driver.Handle(event))
	})
}

//export cuGreenCtxWaitEvent
func cuGreenCtxWaitEvent(green C.CUgreenCtx, event C.CUevent) C.CUresult {
	return callThread("cuGreenCtxWaitEvent", func(t *driver.Thread) error { return t.GreenCtxWaitEvent(driver.Handle(green), driver.Handle(event)) })
}
