package main

// This file exports stream capture.

/*
#include <stdlib.h>

#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

//export cuStreamBeginCapture_v2
func cuStreamBeginCapture_v2(stream C.CUstream, mode C.int) C.CUresult {
	return callThread("cuStreamBeginCapture_v2", func(t *driver.Thread) error {
		return t.StreamBeginCapture(driver.Handle(stream), driver.CaptureMode(mode))
	})
}

//export cuStreamBeginCaptureToGraph
func cuStreamBeginCaptureToGraph(stream C.CUstream, graph C.CUgraph, after *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t, mode C.int) C.CUresult {
	return callThread("cuStreamBeginCaptureToGraph", func(t *driver.Thread) error {
		if err := plainEdges(after, edges, n); err != nil {
			return err
		}
		return t.StreamBeginCaptureToGraph(driver.Handle(stream), driver.Handle(graph), handles((*C.uint64_t)(after), n), driver.CaptureMode(mode))
	})
}

//export cuStreamEndCapture
func cuStreamEndCapture(stream C.CUstream, graph *C.CUgraph) C.CUresult {
	return callThread("cuStreamEndCapture", func(t *driver.Thread) error {
		g, err := t.StreamEndCapture(driver.Handle(stream))
		if graph != nil { // the captured graph; 0 after an error
			*graph = C.CUgraph(g)
		}
		return err
	})
}

//export cuStreamIsCapturing
func cuStreamIsCapturing(stream C.CUstream, status *C.int) C.CUresult {
	return storeThreadValue("cuStreamIsCapturing", status, func(t *driver.Thread) (driver.CaptureStatus, error) {
		info, err := t.StreamGetCaptureInfo(driver.Handle(stream))
		return info.Status, err
	})
}

// exportNodes copies a list of nodes to C memory. The data of an edge follows for each node; it is zero, which describes
// a plain edge.
func exportNodes(l *driver.ClientMemory, list []driver.Handle) (nodes *C.CUgraphNode, edges *C.CUgraphEdgeData) {
	n := C.size_t(len(list))
	p := l.Allocate(func() unsafe.Pointer {
		p := C.calloc(n+1, C.sizeof_CUgraphNode+C.sizeof_CUgraphEdgeData)
		copy(unsafe.Slice((*driver.Handle)(p), len(list)), list)
		return p
	}, release)
	return (*C.CUgraphNode)(p), (*C.CUgraphEdgeData)(unsafe.Add(p, len(list)*C.sizeof_CUgraphNode))
}

// release frees C memory that a driver.ClientMemory holds.
func release(p unsafe.Pointer) { C.free(p) }

//export cuStreamGetCaptureInfo_v3
func cuStreamGetCaptureInfo_v3(stream C.CUstream, status *C.int, id *C.uint64_t, graph *C.CUgraph, after **C.CUgraphNode, edges **C.CUgraphEdgeData, n *C.size_t) C.CUresult {
	return callThread("cuStreamGetCaptureInfo_v3", func(t *driver.Thread) error {
		if status == nil {
			return driver.InvalidValue
		}
		info, err := t.StreamGetCaptureInfo(driver.Handle(stream))
		if err != nil {
			return err
		}
		*status = C.int(info.Status)
		if info.Status != driver.Captured {
			return nil
		}
		if id != nil {
			*id = C.uint64_t(info.ID)
		}
		if graph != nil {
			*graph = C.CUgraph(info.Graph)
		}
		if n != nil {
			*n = C.size_t(len(info.Predecessors))
		}
		if after != nil || edges != nil {
			list, data := exportNodes(info.ClientMemory, info.Predecessors)
			if after != nil {
				*after = list
			}
			if edges != nil {
				*edges = data
			}
		}
		return nil
	})
}

//export cuStreamUpdateCaptureDependencies_v2
func cuStreamUpdateCaptureDependencies_v2(stream C.CUstream, after *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t, flags C.uint) C.CUresult {
	return callThread("cuStreamUpdateCaptureDependencies_v2", func(t *driver.Thread) error {
		if err := plainEdges(after, edges, n); err != nil {
			return err
		}
		if flags > 1 {
			return driver.InvalidValue
		}
		return t.StreamUpdateCaptureDependencies(driver.Handle(stream), handles((*C.uint64_t)(after), n), flags == 1)
	})
}
