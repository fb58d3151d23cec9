// Package argument reads the arguments of a kernel as the command gemu writes them, and makes their values on a device:
// numbers, buffers, textures, surfaces, samplers and tensor maps. It also reads and writes arrays as files.
//
// An argument is written by this grammar (terminals in quotes, [x] is optional, {x} repeats):
//
//	argument  = number | bytes | reference | array | file | object | tensormap .
//	number    = integer | float .                       typed by the parameter; 0x, 0b and 0o as in Go
//	bytes     = "bytes:" HEX .                          the bytes of an aggregate, two digits each
//	reference = "&" INTEGER .                           the buffer of the argument with this number, from 0
//	array     = type "[" shape "]" [ fill ] .           a new buffer: f32[1024], u8[4x8]=7
//	type      = "u8" | "s8" | "u16" | "s16" | "f16" | "bf16" | "u32" | "s32" | "f32" | "u64" | "s64" | "f64" .
//	shape     = INTEGER { ("x" | ",") INTEGER } .       elements, the slowest dimension first
//	fill      = "=" ( "iota" | number | "rand:" INTEGER ) .
//	file      = "@" NAME [ ":" view ] .                 a new buffer with the contents of a file
//	view      = type | "gray" | "rgba" .
//	object    = "tex" [ "." geometry ] "(" texels { "," option } ")"
//	          | "surf" [ "." geometry ] "(" texels { "," option } ")"
//	          | "sampler" "(" [ option { "," option } ] ")" .
//	texels    = channel "[" shape "]" [ fill ] | file . channel is u, s or f with 8, 16 or 32 bits, and x2 or x4
//	tensormap = "tma(" buffer "," [ map "," ] option { "," option } ")" .
//	buffer    = INTEGER | array | file .                the number of another argument, or a new buffer
//	map       = TYPE "[" shape "]" .                    the tensor; may be left out over a new buffer
//
// An array without a fill is zero. With the fill iota, element i is i; with a number, each element is the number; with
// rand:SEED, elements are random but reproducible: integers uniform over their type, floats uniform from 0 to 1.
//
// A file NAME.npy is an array of NumPy, NAME.png a picture: a byte for each pixel if the picture is gray, else four (red,
// green, blue, alpha); a gray picture of 16 bits gives u16. The view gray or rgba selects one byte or four. Any other file
// is an array of its bytes, with elements of the view's type, or else u8.
//
// For geometries and options of textures see [gemu/interp.ObjectText]; docs/textures.md explains them, docs/async.md
// explains tensor maps.
//
// # Use
//
// [Parse] parses an argument and needs no device. [Bind] parses all arguments of a kernel and makes their values on the
// device of its module; [List.Set] sets a variable of the module. After the launch, [List.Lookup] gives the buffers for
// reading.
//
// The error of an invalid argument is an [*Error] with the place in the text: find it with [errors.As]. Errors of files and
// of memory wrap the errors of their sources. The end of a context ends the reading of files.
//
// # Concurrency and compatibility
//
// A parsed argument does not change, and is safe for concurrent use; a List belongs to one goroutine. Notations may be added
// at any time.
package argument
