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

// mapAt returns a client's tensor map. Its address must be a multiple of 64.
func mapAt(p *C.CUtensorMap) (*driver.TensorMap, error) {
	if p == nil || uintptr(unsafe.Pointer(p))%64 != 0 {
		return nil, driver.InvalidValue
	}
	return (*driver.TensorMap)(unsafe.Pointer(p)), nil
}

// list views a client's array; nil for a null pointer.
func list[G, C any](p *C, n C_uint) []G {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*G)(unsafe.Pointer(p)), int(n))
}

// C_uint is C.uint, which cannot be named where C is a type parameter.
type C_uint = C.uint

// tensorOf converts the common parameters of the functions that make maps.
func tensorOf(typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, steps *C.uint, interleave, swizzle, promotion, fill C.int) *driver.Tensor {
	rank = min(rank, 6) // a higher rank is refused later
	return &driver.Tensor{
		Type: uint32(typ), Address: uint64(uintptr(address)), Dims: list[uint64](dims, rank), Strides: list[uint64](strides, max(rank, 1)-1), Steps: list[uint32](steps, rank),
		Interleave: uint32(interleave), Swizzle: uint32(swizzle), L2: uint32(promotion), OOB: uint32(fill),
	}
}

// makeMap implements calls that make a tensor map.
func makeMap(call string, to *C.CUtensorMap, make func(t *driver.Thread) (driver.TensorMap, error)) C.CUresult {
	return do(call, func(t *driver.Thread) error {
		p, err := mapAt(to)
		if err != nil {
			return err
		}
		m, err := make(t)
		if err == nil {
			*p = m
		}
		return err
	})
}

//export cuTensorMapEncodeTiled
func cuTensorMapEncodeTiled(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, box, steps *C.uint, interleave, swizzle, promotion, fill C.int) C.CUresult {
	return makeMap("cuTensorMapEncodeTiled", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapEncodeTiled(tensorOf(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), list[uint32](box, min(rank, 6)))
	})
}

//export cuTensorMapEncodeIm2col
func cuTensorMapEncodeIm2col(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, lower, upper *C.int, channels, pixels C.uint, steps *C.uint, interleave, swizzle, promotion, fill C.int) C.CUresult {
	return makeMap("cuTensorMapEncodeIm2col", to, func(t *driver.Thread) (driver.TensorMap, error) {
		corners := max(min(rank, 5), 2) - 2
		return t.TensorMapEncodeIm2col(tensorOf(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), list[int32](lower, corners), list[int32](upper, corners), uint32(channels), uint32(pixels))
	})
}

//export cuTensorMapEncodeIm2colWide
func cuTensorMapEncodeIm2colWide(to *C.CUtensorMap, typ C.int, rank C.uint, address unsafe.Pointer, dims, strides *C.uint64_t, lower, upper C.int, channels, pixels C.uint, steps *C.uint, interleave, mode, swizzle, promotion, fill C.int) C.CUresult {
	return makeMap("cuTensorMapEncodeIm2colWide", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapEncodeIm2colWide(tensorOf(typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill), int32(lower), int32(upper), uint32(channels), uint32(pixels), uint32(mode))
	})
}

//export cuTensorMapReplaceAddress
func cuTensorMapReplaceAddress(to *C.CUtensorMap, address unsafe.Pointer) C.CUresult {
	return makeMap("cuTensorMapReplaceAddress", to, func(t *driver.Thread) (driver.TensorMap, error) {
		return t.TensorMapReplaceAddress((*driver.TensorMap)(unsafe.Pointer(to)), uint64(uintptr(address)))
	})
}
