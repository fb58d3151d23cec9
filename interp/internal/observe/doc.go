// Package observe runs observed launches: PTX instruction by PTX instruction, each as the mode of the launch executes it, with
// the events to which probes subscribe. Read observe.go, then stream.go (accesses) and texture.go (texels).
package observe
