package main

// This file exports tensor maps.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

// clientTensorMap returns a client's tensor map. Its address must be a multiple of 64.
func clientTensorMap(p *C.CUtensorMap) (*driver.TensorMap, error) {
	if p == nil || uintptr(unsafe.Pointer(p))%64 != 0 {
		return nil, driver.InvalidValue
	}
	return (*driver.TensorMap)(unsafe.Pointer(p)), nil
}

// viewArray views a client's array of n elements. The result is nil for a null pointer.
func viewArray[G, C any](p *C, n C_uint) []G {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*G)(unsafe.Pointer(p)), int(n))
}

// C_uint is C.uint, which cannot be named where C is a type parameter.
type C_uint = C.uint

// convertTensor converts the common parameters of the functions that make tensor maps.
func convertTensor(typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, steps *C.uint, interleave, swizzle, promotion, fill C.int) *driver.Tensor {
	rank = min(rank, 6) // a higher rank is refused later
	return &driver.Tensor{
		Type: uint32(typ), Address: uint64(uintptr(address)), Dims: viewArray[uint64](dims, rank), Strides: viewArray[uint64](strides, max(rank, 1)-1), Steps: viewArray[uint32](steps, rank),
		Interleave: uint32(interleave), Swizzle: uint32(swizzle), L2: uint32(promotion), OOB: uint32(fill),
	}
}

// storeTensorMap implements calls that make a tensor map, which it stores at to.
func storeTensorMap(call string, to *C.CUtensorMap, encode func(t *driver.Thread) (driver.TensorMap, error)) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		p, err := clientTensorMap(to)
		if err != nil {
			return err
		}
		m, err := encode(t)
		if err == nil {
			*p = m
		}
		return err
	})
}

//export cuTensorMapEncodeTiled
func cuTensorMapEncodeTiled(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, box, steps *C.uint, interleave, swizzle, promotion, fill C.int) C.CUresult {
	return storeTensorMap("cuTensorMapEncodeTiled", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapEncodeTiled(convertTensor(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), viewArray[uint32](box, min(rank, 6)))
	})
}

//export cuTensorMapEncodeIm2col
func cuTensorMapEncodeIm2col(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, lower, upper *C.int, channels, pixels C.uint, steps *C.uint, interleave, swizzle, promotion, fill C.int) C.CUresult {
	return storeTensorMap("cuTensorMapEncodeIm2col", to, func(t *driver.Thread) (driver.TensorMap, error) {
		corners := max(min(rank, 5), 2) - 2
		return t.TensorMapEncodeIm2col(convertTensor(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), viewArray[int32](lower, corners), viewArray[int32](upper, corners), uint32(channels), uint32(pixels))
	})
}

//export cuTensorMapEncodeIm2colWide
func cuTensorMapEncodeIm2colWide(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, lower, upper C.int, channels, pixels C.uint, steps *C.uint, interleave, mode, swizzle, promotion, fill C.int) C.CUresult {
	return storeTensorMap("cuTensorMapEncodeIm2colWide", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapEncodeIm2colWide(convertTensor(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), int32(lower), int32(upper), uint32(channels), uint32(pixels), uint32(mode))
	})
}

//export cuTensorMapReplaceAddress
func cuTensorMapReplaceAddress(to *C.CUtensorMap, address unsafe.Pointer) C.CUresult {
	return storeTensorMap("cuTensorMapReplaceAddress", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapReplaceAddress((*driver.TensorMap)(unsafe.Pointer(to)), uint64(uintptr(address)))
	})
}
