package machine

import (
	"sync"
	"sync/atomic"

	"gemu/interp/internal/mem"
	"gemu/interp/internal/texture"
	"gemu/ptx"
)

// Object is what a handle stands for: a texture, a surface or a sampler.
type Object struct {
	Type    ptx.Type // .texref, .surfref or .samplerref
	Name    string
	Texture texture.Texture // of a surface its image, of one level; of a sampler its part
	Memory  *mem.Allocation // the texels,
	Offset  uint64          // from here on
	Freed   atomic.Bool
}

// Objects are those of a device, by handle. They can be made while a grid runs.
type Objects struct {
	Objects sync.Map // from handles to *Object

	mu    sync.Mutex
	count uint64   // objects
	freed []uint64 // handles of those that are freed and still known, the first one first
}

// MaxFreedObjects is how many objects that are freed are known.
const MaxFreedObjects = 1 << 10

// Add gives an object a handle, which no other has had.
func (l *Objects) Add(obj *Object) (handle uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	handle = mem.HandleBase + handleSize*l.count
	l.Objects.Store(handle, obj)
	l.count++
	return handle
}

const handleSize = 16

// Free takes a handle back. The object is known for a while.
func (l *Objects) Free(handle uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if obj := l.Get(handle); obj == nil || obj.Freed.Swap(true) {
		return
	}
	if l.freed = append(l.freed, handle); len(l.freed) > MaxFreedObjects {
		l.Objects.Delete(l.freed[0])
		l.freed = l.freed[1:]
	}
}

// Get is the object of a handle, nil if it is none's or not known any more.
func (l *Objects) Get(handle uint64) *Object {
	o, _ := l.Objects.Load(handle)
	p, _ := o.(*Object)
	return p
}

// WasFreed reports whether an object has or has had the handle.
func (l *Objects) WasFreed(handle uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	addr := handle - mem.HandleBase
	return addr%handleSize == 0 && addr/handleSize < l.count
}

// Each calls do with every object that is not freed.
func (l *Objects) Each(visit func(handle uint64, obj *Object)) {
	l.Objects.Range(func(handle, o any) bool {
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

// Data is the texels.
func (obj *Object) Data() []byte { return obj.Memory.Data[obj.Offset:] }
