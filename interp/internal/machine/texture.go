package machine

import (
	"sync"
	"sync/atomic"

	"gemu/interp/internal/mem"
	"gemu/interp/internal/sampling"
	"gemu/ptx"
)

// Object is a texture, a surface or a sampler, which programs name by a handle.
type Object struct {
	Type    ptx.Type // .texref, .surfref or .samplerref
	Name    string
	Texture sampling.Texture // for a surface: its image, with one level; for a sampler: the sampler fields only
	Memory  *mem.Allocation  // allocation with the texels
	Offset  uint64           // offset of the texels in Memory, in bytes
	Freed   atomic.Bool
}

// Objects is the table of a device's objects, by handle. Objects can be made while a grid runs.
type Objects struct {
	ByHandle sync.Map // from handles to *Object

	mu    sync.Mutex // protects the fields below
	count uint64     // number of objects made
	freed []uint64   // handles of freed objects still in Objects, oldest first
}

// MaxFreedObjects is the maximum number of freed objects in the table.
const MaxFreedObjects = 1 << 10

// Add stores an object and returns its handle; handles are never used again.
func (l *Objects) Add(obj *Object) (handle uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	handle = mem.HandleBase + handleSize*l.count
	l.ByHandle.Store(handle, obj)
	l.count++
	return handle
}

// handleSize is the distance between handles.
const handleSize = 16

// Free marks an object as freed. It stays in the table for a while, for messages.
func (l *Objects) Free(handle uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if obj := l.Get(handle); obj == nil || obj.Freed.Swap(true) {
		return
	}
	if l.freed = append(l.freed, handle); len(l.freed) > MaxFreedObjects {
		l.ByHandle.Delete(l.freed[0])
		l.freed = l.freed[1:]
	}
}

// Get returns the object of a handle, or nil if there is none or it is no longer in the table.
func (l *Objects) Get(handle uint64) *Object {
	o, _ := l.ByHandle.Load(handle)
	p, _ := o.(*Object)
	return p
}

// WasFreed reports whether the handle was returned by Add. If Get returns no object for it, the object has been freed.
func (l *Objects) WasFreed(handle uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	addr := handle - mem.HandleBase
	return addr%handleSize == 0 && addr/handleSize < l.count
}

// Each calls visit for every live object.
func (l *Objects) Each(visit func(handle uint64, obj *Object)) {
	l.ByHandle.Range(func(handle, o any) bool {
		if obj := o.(*Object); !obj.Freed.Load() {
			visit(handle.(uint64), obj)
		}
		return true
	})
}

// String names the object in messages.
func (obj *Object) String() string {
	s := map[ptx.Type]string{ptx.TexRef: "texture", ptx.SurfRef: "surface", ptx.SamplerRef: "sampler"}[obj.Type]
	if obj.Name != "" {
		s += " " + obj.Name
	}
	if obj.Type != ptx.SamplerRef {
		s += " " + obj.Texture.Image.String()
	}
	return s
}

// Data returns the object's memory from its texels on.
func (obj *Object) Data() []byte { return obj.Memory.Data[obj.Offset:] }
