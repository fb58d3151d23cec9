package driver

// This file implements functions: the kernels of modules and their attributes.

import (
	"errors"
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// Function is a kernel of a module.
type Function struct {
	handle Handle
	module *Module
	kernel *ptx.Func

	once    sync.Once // sets info and infoErr
	info    *interp.KernelInfo
	infoErr error

	maxDynamic  int         // allowed dynamic shared memory in bytes; 0: the default
	carveout    int         // FuncCarveout; only stored
	cluster     ptx.Dim3    // cluster size set by attributes; zero: not set
	nonPortable bool        // clusters may have more than 8 blocks
	scheduling  int         // scheduling preference for clusters; only stored
	cacheConfig int         // CUfunc_cache; only stored
	setup       launchSetup // launch parameters set call by call; see launch_setup.go
}

// function returns the function with a handle. If the handle is that of a Kernel, it returns the kernel's function in the
// current context. The caller must not hold d.mu.
func (t *Thread) function(h Handle) (*Function, error) {
	d := t.d
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	k, isKernel := d.objects[h].(*Kernel)
	if !isKernel {
		defer d.mu.Unlock()
		return object[*Function](d, h)
	}
	d.mu.Unlock()
	return t.kernelFunction(k)
}

// prepared returns the function with a handle, and the properties of its kernel.
func (t *Thread) prepared(h Handle) (*Function, *interp.KernelInfo, error) {
	f, err := t.function(h)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.prepared()
	return f, info, err
}

// prepared returns the properties of the function's kernel. The first call lowers the kernel, and waits for a running
// launch. The error reports unsupported PTX, or a module that is being unloaded.
func (f *Function) prepared() (*interp.KernelInfo, error) {
	f.once.Do(func() {
		d := f.module.ctx.dev.d
		var err error
		var refused *interp.LaunchError
		switch f.info, err = f.module.mod.Info(f.kernel.Name, d.settings.Mode); {
		case errors.As(err, &refused): // another thread is unloading the module
			f.infoErr = fail(InvalidHandle, "%v", err)
		case err != nil:
			f.infoErr = d.printError(failBy(NotSupported, err))
		}
	})
	return f.info, f.infoErr
}

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// The attributes of a function.
const (
	FuncMaxThreadsPerBlock FunctionAttribute = iota // maximum number of threads of a CTA
	FuncSharedSize                                  // static shared memory, in bytes
	FuncConstSize                                   // constant memory of the module, in bytes
	FuncLocalSize                                   // local memory of a thread, in bytes
	FuncNumRegs                                     // 32-bit registers of a thread, at most 255
	FuncPTXVersion                                  // sm_NN of the PTX: 86 is 8.6
	FuncBinaryVersion                               // compute capability of the device: 86 is 8.6
	FuncCacheModeCA                                 // always 0
	FuncMaxDynamicShared                            // maximum dynamic shared memory of a launch, in bytes; can be set
	FuncCarveout                                    // preferred share of shared memory in percent; -1: none; only stored
	FuncClusterMustBeSet                            // 1 if the kernel needs clusters, else 0
	FuncClusterWidth                                // required cluster size in CTAs, X; 0: none; can be set
	FuncClusterHeight                               // as FuncClusterWidth, Y
	FuncClusterDepth                                // as FuncClusterWidth, Z
	FuncNonPortableCluster                          // 1 if clusters of more than 8 CTAs are permitted, else 0; can be set
	FuncClusterPolicy                               // CUclusterSchedulingPolicy, 0 to 2; can be set, and is only stored
	FuncDeviceNodeUpdate                            // always 0
	FuncSharedMemoryMode                            // always 0
	funcAttributes                                  // number of attributes
)

// FuncGetAttribute is cuFuncGetAttribute and cuKernelGetAttribute.
func (t *Thread) FuncGetAttribute(a FunctionAttribute, h Handle) (int, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	if a < 0 || a >= funcAttributes {
		return 0, fail(InvalidValue, "function attribute %d, want 0 to %d", a, funcAttributes-1)
	}
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch a {
	case FuncMaxThreadsPerBlock:
		return info.MaxThreads, nil
	case FuncSharedSize:
		return info.Shared, nil
	case FuncConstSize:
		return f.module.constantBytes(), nil
	case FuncLocalSize:
		return info.Local, nil
	case FuncNumRegs:
		return min(info.Registers, 255), nil
	case FuncPTXVersion:
		return f.kernel.SM, nil // the architecture of .target, not the number of .version
	case FuncBinaryVersion:
		return t.d.settings.SM, nil
	case FuncMaxDynamicShared:
		return f.dynamicLimit(), nil
	case FuncCarveout:
		return f.carveout, nil
	}
	cluster, explicit := f.requiredCluster()
	switch a {
	case FuncClusterMustBeSet:
		return number(explicit), nil
	case FuncClusterWidth:
		return cluster.X, nil
	case FuncClusterHeight:
		return cluster.Y, nil
	case FuncClusterDepth:
		return cluster.Z, nil
	case FuncNonPortableCluster:
		return number(f.nonPortable), nil
	case FuncClusterPolicy:
		return f.scheduling, nil
	}
	return 0, nil // the remaining attributes are always 0
}

// number returns 1 for true and 0 for false.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// requiredCluster returns the cluster size that the kernel's PTX requires, or else the size set by attributes; zero if
// there is neither. explicit reports whether the PTX requires clusters, of a certain size or of any size. The caller must
// hold d.mu.
func (f *Function) requiredCluster() (cluster ptx.Dim3, explicit bool) {
	cluster, err := f.module.mod.Cluster(f.kernel.Name, ptx.Dim3{})
	if err != nil {
		cluster = ptx.Dim3{} // the PTX requires clusters of any size
	}
	explicit = err != nil || cluster != ptx.Dim3{}
	if cluster == (ptx.Dim3{}) {
		cluster = f.cluster
	}
	return cluster, explicit
}

// clusterOf returns the cluster size of a launch. requested is the size in the launch's parameters, or zero. The caller
// must hold d.mu.
func (f *Function) clusterOf(requested ptx.Dim3) (ptx.Dim3, error) {
	if requested == (ptx.Dim3{}) {
		requested = f.cluster
	}
	cluster, err := f.module.mod.Cluster(f.kernel.Name, requested)
	if err != nil {
		return cluster, fail(InvalidClusterSize, "%v", err)
	}
	if n := cluster.Count(); n > f.maxCluster() {
		return cluster, fail(InvalidClusterSize, "kernel %s: a cluster of %d blocks, at most %d are allowed; cuFuncSetAttribute raises the limit", f.kernel.Name, n, f.maxCluster())
	}
	return cluster, nil
}

// setCluster sets extent, a dimension of f.cluster, to value. The caller must hold d.mu.
func (f *Function) setCluster(extent *int, value int) error {
	if _, explicit := f.requiredCluster(); explicit {
		return fail(NotPermitted, "the cluster size of kernel %s cannot be set: its PTX determines it", f.kernel.Name)
	}
	if value < 0 {
		return fail(InvalidValue, "a cluster dimension of %d blocks, want at least 0", value)
	}
	*extent = value
	return nil
}

// portableCluster is the cluster size, in blocks, that every device with clusters supports.
const portableCluster = 8

// maxCluster returns the maximum cluster size of the kernel, in blocks. The caller must hold d.mu.
func (f *Function) maxCluster() int {
	if f.nonPortable {
		return interp.MaxCluster
	}
	return portableCluster
}

// constantBytes returns the total size of the module's .const variables in bytes.
func (m *Module) constantBytes() int {
	n := 0
	for _, v := range m.mod.Vars() {
		if v.Space == ptx.Const {
			n += v.Size()
		}
	}
	return n
}

// dynamicLimit returns the maximum dynamic shared memory of a launch in bytes. The caller must hold d.mu, and must have
// called prepared.
func (f *Function) dynamicLimit() int {
	if f.maxDynamic > 0 {
		return f.maxDynamic
	}
	return max(sharedPerBlock-f.info.Shared, 0)
}

// FuncSetAttribute is cuFuncSetAttribute and cuKernelSetAttribute.
func (t *Thread) FuncSetAttribute(a FunctionAttribute, value int, h Handle) error {
	f, err := t.function(h)
	if err != nil {
		return err
	}
	info, err := f.prepared()
	if err != nil {
		return err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch a {
	case FuncMaxDynamicShared:
		if maximum := t.d.limits().PerBlock - info.Shared; value < 0 || value > maximum {
			return fail(InvalidValue, "%d bytes of dynamic shared memory, at most %d are allowed", value, maximum)
		}
		f.maxDynamic = value
	case FuncCarveout:
		if value < -1 || value > 100 {
			return fail(InvalidValue, "carveout %d, want a percentage from 0 to 100, or -1 for no preference", value)
		}
		f.carveout = value
	case FuncClusterWidth:
		return f.setCluster(&f.cluster.X, value)
	case FuncClusterHeight:
		return f.setCluster(&f.cluster.Y, value)
	case FuncClusterDepth:
		return f.setCluster(&f.cluster.Z, value)
	case FuncNonPortableCluster:
		f.nonPortable = value != 0
	case FuncClusterPolicy:
		if value < 0 || value > 2 {
			return fail(InvalidValue, "cluster scheduling policy %d, want 0 to 2", value)
		}
		f.scheduling = value
	default:
		return fail(InvalidValue, "function attribute %d cannot be set", a)
	}
	return nil
}

// FuncSetCacheConfig is cuFuncSetCacheConfig. The value is only stored: there is no cache to configure.
func (t *Thread) FuncSetCacheConfig(h Handle, config int) error {
	f, err := t.function(h)
	switch {
	case err != nil:
		return err
	case config < 0 || config > 3:
		return fail(InvalidValue, "cache configuration %d, want 0 to 3", config)
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	f.cacheConfig = config
	return nil
}

// FuncGetModule is cuFuncGetModule.
func (t *Thread) FuncGetModule(h Handle) (Handle, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	return f.module.handle, nil
}

// FuncGetName is cuFuncGetName and cuKernelGetName.
func (t *Thread) FuncGetName(h Handle) (string, error) {
	f, err := t.function(h)
	if err != nil {
		return "", err
	}
	return f.kernel.Name, nil
}

// FuncGetParamInfo is cuFuncGetParamInfo and cuKernelGetParamInfo: the offset and size of a parameter in bytes.
func (t *Thread) FuncGetParamInfo(h Handle, i uint64) (offset, size int, err error) {
	_, info, err := t.prepared(h)
	if err != nil {
		return 0, 0, err
	}
	if i >= uint64(len(info.Params)) {
		return 0, 0, fail(InvalidValue, "no parameter %d: the function has %d", i, len(info.Params))
	}
	return info.Params[i].Offset, info.Params[i].Size, nil
}

// FuncGetParamCount is cuFuncGetParamCount and cuKernelGetParamCount.
func (t *Thread) FuncGetParamCount(h Handle) (int, error) {
	_, info, err := t.prepared(h)
	if err != nil {
		return 0, err
	}
	return len(info.Params), nil
}
