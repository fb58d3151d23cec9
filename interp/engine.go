package interp

import (
	"errors"
	"fmt"

	"gemu/interp/internal/backends"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
)

// Engine selects the code that executes instructions. All engines give the same results and counts, in every mode.
type Engine uint8

const (
	// DefaultEngine is the engine of the device in a Launch, and Portable in a Config.
	DefaultEngine Engine = Engine(backends.Default)
	// Portable is the engine in Go, for every host.
	Portable Engine = Engine(backends.Portable)
	// Native is the engine in machine code. It needs Linux, and an x86-64 processor with AVX2, BMI2 and FMA or an arm64 processor.
	Native Engine = Engine(backends.Native)
	// Auto is Native on a host that has it, otherwise Portable.
	Auto Engine = Engine(backends.Auto)
)

// Engines returns the engines that EngineNamed knows by name, Auto first.
func Engines() []Engine { return []Engine{Auto, Portable, Native} }

// EngineNamed returns the engine of a name: auto, portable or native; the empty name is Auto. The error means that the name is
// unknown or the host does not have the engine.
func EngineNamed(name string) (Engine, error) {
	if name == "" {
		return Auto, nil
	}
	for _, e := range Engines() {
		if e.String() == name {
			return e, e.check()
		}
	}
	return DefaultEngine, fmt.Errorf("want %s", joinNames(Engines()))
}

// String returns the name of the engine.
func (e Engine) String() string {
	if e > Auto {
		return fmt.Sprintf("engine %d", uint8(e))
	}
	return [...]string{"default", "portable", "native", "auto"}[e]
}

// Available reports whether the host has the engine.
func (e Engine) Available() bool { return e.check() == nil }

// check returns the reason why the host does not have the engine, or nil.
func (e Engine) check() error {
	switch {
	case e == DefaultEngine || e.backend() != nil:
		return nil
	case e == Native:
		return errors.New("the native engine cannot run on this host: it needs Linux on arm64, or on x86-64 with AVX2, BMI2 and FMA. The portable engine runs on every host")
	}
	return fmt.Errorf("there is no %v", e)
}

// backend returns the backend of an engine other than DefaultEngine; nil if the host does not have it.
func (e Engine) backend() machine.Backend { return backends.Backend(uint8(e)) }

// NativeUnavailable returns the reason why the host refuses to execute the native engine's machine code; nil if it executes
// it, or if the host has no native engine. Without machine code, launches run in Go.
func NativeUnavailable() error {
	if !Native.Available() {
		return nil
	}
	return native.Executable()
}

// WhyNotNative returns the reason, for users, why Go executes a launch on a device whose engine is Native; "" if machine code
// executes it. The results are the same. Machine code runs launches without probes, and of others the instructions without events, on a host that allows the process to
// execute it.
func (d *Device) WhyNotNative(l *Launch) string {
	if err := NativeUnavailable(); err != nil {
		return fmt.Sprintf("the host does not let the process execute the machine code that it generates (%v)", err)
	}
	if len(d.cfg.Probes) > 0 || len(l.Probes) > 0 || l.Structure || l.Drive != nil {
		return "in launches observed by statistics, profiles, traces, sanitizers, models or the debugger, all instructions or those with events run in Go"
	}
	return ""
}
