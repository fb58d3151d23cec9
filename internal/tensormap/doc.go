// Package tensormap implements tensor maps (manual 5.5): 128 bytes that describe a tensor in global memory, and the way
// in which copies transfer boxes of it to and from shared memory.
//
// NVIDIA does not document the bytes. Here they are (integers in little-endian order)
//
//	  0  8 bytes  "gemu.tma"
//	  8  u64      address of the tensor
//	 16  5 × u32  its extents in elements, modulo 2^32; dimension 0 has no stride
//	 36  u32      set of the required fields that are present
//	 40  4 × u64  its strides in bytes, of dimensions 1 to 4
//	 72  5 × u16  extents of the box in elements; for im2col channels, then pixels
//	 82  5 × u8   traversal strides
//	 87  u8       rank
//	 88  u8       type of the elements, with the numbers of tensormap.replace
//	 89  u8       interleave layout
//	 90  u8       swizzle mode
//	 91  u8       swizzle atomicity
//	 92  u8       fill mode: 1 is NaN
//	 93  u8       L2 promotion, which has no effect
//	 94  u8       mode
//	 95  u8       allocation class: 1 is large, which has no effect
//	 96  3 × s16  lower corner of the bounding box, of W, H and D
//	102  3 × s16  its upper corner
//	108           zeros
//
// So arbitrary bytes are not a tensor map. tensormap.replace makes a map from zeros, field by field; a use before all
// required fields are present reports the missing fields.
//
// Files in reading order: tensormap.go (the map and its bytes), parse.go, check.go, swizzle.go, walk.go (the bytes of a
// copy).
package tensormap
