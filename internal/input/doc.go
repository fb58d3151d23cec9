// Package input reads files up to a maximum size. The size of a device or a pipe is unknown and may be infinite.
package input
