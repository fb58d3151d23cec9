package driver

import (
	"bytes"
	"encoding/binary"
	"testing"

	"gemu/ptx"
)

// A kernel that is set up call by call runs like one launched by cuLaunchKernel.
func TestLaunchSetUpCallByCall(t *testing.T) {
	c := newClient(t, nil)
	f, x := c.function("add"), c.alloc(256)
	word := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

	c.want(InvalidValue, "block", c.LaunchGrid(f, 1, 1, 0))
	c.ok(c.FuncSetBlockShape(f, ptx.Dim3{X: 32, Y: 1, Z: 1}))
	c.want(InvalidValue, "no arguments were passed", c.LaunchGrid(f, 1, 1, 0))
	c.ok(c.ParamSet(f, 0, binary.LittleEndian.AppendUint64(nil, x)))
	c.ok(c.ParamSet(f, 8, word(5)))
	c.ok(c.LaunchGrid(f, 2, 1, 0))
	c.expect(x, 5, 5)
	// The parameters stay for the next launch; cuParamSetSize truncates them, or appends zeros.
	c.ok(c.ParamSet(f, 8, word(90)))
	c.ok(c.LaunchGrid(f, 1, 1, 0))
	c.expect(x, 95, 95)
	c.ok(c.ParamSetSize(f, 8))
	c.want(InvalidValue, "the buffer of arguments has 8 bytes", c.LaunchGrid(f, 1, 1, 0))
	c.ok(c.ParamSetSize(f, 12))
	c.ok(c.LaunchGrid(f, 1, 1, 0))
	c.expect(x, 95, 95)

	shared := c.function("scratch")
	c.ok(c.FuncSetBlockShape(shared, ptx.Dim(1)))
	c.ok(c.FuncSetSharedSize(shared, 48<<10))
	c.ok(c.ParamSetSize(shared, 12))
	c.want(InvalidValue, "bytes of dynamic shared memory", c.LaunchGrid(shared, 1, 1, 0))

	c.want(InvalidValue, "0×1×1", c.FuncSetBlockShape(f, ptx.Dim3{X: 0, Y: 1, Z: 1}))
	c.want(InvalidValue, "offset -4", c.ParamSet(f, -4, word(1)))
	c.want(InvalidValue, "at most 32764", c.ParamSet(f, paramLimit-3, word(1)))
	c.want(InvalidValue, "texture unit 0", c.ParamSetTexRef(f, 0, 0))
	c.want(InvalidHandle, "not the handle of a texture or surface reference", c.ParamSetTexRef(f, -1, f))
	c.want(InvalidHandle, "not the handle of a function", c.LaunchGrid(c.mod, 1, 1, 0))
}

// A context lives until its last user detaches.
func TestContextLivesUntilDetached(t *testing.T) {
	c := newClient(t, nil)
	h, err := c.CtxCreate(0, 0)
	c.ok(err)
	again, err := c.CtxAttach(0)
	c.ok(err)
	if again != h {
		t.Errorf("attached to context %#x, want %#x", again, h)
	}
	c.ok(c.CtxDetach(h))
	c.ok(c.CtxSynchronize(h))
	c.ok(c.CtxDetach(h))
	c.want(InvalidContext, "is not the handle of a context", c.CtxSynchronize(h))
	c.want(InvalidContext, "is not the handle of a context", c.CtxDetach(h))

	primary, err := c.d.PrimaryCtxRetain(0)
	c.ok(err)
	c.ok(c.CtxSetCurrent(primary))
	c.want(InvalidContext, "the primary context cannot be destroyed", c.CtxDetach(primary))
	_, err = c.CtxAttach(1)
	c.want(InvalidValue, "flags 1", err)
	other, err := c.CtxCreate(0, 0)
	c.ok(err)
	c.want(InvalidContext, "not current", c.CtxDetach(primary))
	c.ok(c.CtxDetach(other))
	c.ok(c.d.PrimaryCtxRelease(0))
}

// The first call of cuGetExportTable from each file prints a message, except from libraries that work without the
// table.
func TestExportTableIsReportedOnce(t *testing.T) {
	var messages bytes.Buffer
	d := New(Settings{Devices: 1, Stderr: &messages})
	defer d.Close()
	for range 2 {
		for _, caller := range []string{"/lib/libnvrtc.so.13", "/lib/libnvrtc-builtins.so.13.5", "/lib/libnvJitLink.so.12", "/opt/program", "/opt/libother.so"} {
			if got := d.ExportTable(caller); got != NotSupported {
				t.Errorf("the result is %v", got)
			}
		}
	}
	for _, caller := range []string{"/opt/program", "/opt/libother.so"} {
		if n := bytes.Count(messages.Bytes(), []byte(caller+" calls private functions")); n != 1 {
			t.Errorf("%s is told %d times: %s", caller, n, &messages)
		}
	}
	if n := bytes.Count(messages.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("%d lines: %s", n, &messages)
	}
}

// All limits of a device of 8.6 have values, and hints are clamped.
func TestLimitsOfDevice(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.SM = 86 })
	for limit, want := range map[int]uint64{limitSyncDepth: 2, limitPendingLaunches: 2048, limitPersistingL2: 0, limitCIG: 0} {
		if got := must(c.CtxGetLimit(limit))(t); got != want {
			t.Errorf("limit %d is %d, want %d", limit, got, want)
		}
	}
	c.ok(c.CtxSetLimit(limitL2Fetch, 1000))
	if got := must(c.CtxGetLimit(limitL2Fetch))(t); got != maxL2Fetch {
		t.Errorf("the granularity is %d", got)
	}
	c.ok(c.CtxSetLimit(limitPersistingL2, 1<<20))
	c.ok(c.CtxSetLimit(limitPendingLaunches, 4096))
	if got := must(c.CtxGetLimit(limitPendingLaunches))(t); got != 4096 {
		t.Errorf("%d pending launches", got)
	}
	c.want(InvalidValue, "at most 24", c.CtxSetLimit(limitSyncDepth, 25))
	c.want(UnsupportedLimit, "can only be queried", c.CtxSetLimit(limitCIG, 1))
	c.want(UnsupportedLimit, "limit 99", c.CtxSetLimit(99, 1))
	newer := newClient(t, func(s *Settings) { s.SM = 90 })
	_, err := newer.CtxGetLimit(limitSyncDepth)
	newer.want(UnsupportedLimit, "limit 3", err)
}
