// Package observe runs watched launches: PTX instruction by PTX instruction, each as the mode of the launch executes it, with the
// events that the probes subscribed to.
package observe
