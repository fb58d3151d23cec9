package machine

import (
	"fmt"
	"testing"

	"gemu/interp/internal/mem"
)

// TestManyObjects makes more objects than the table keeps after they are freed. Live objects keep their handles. The table
// has MaxFreedObjects of the freed objects, and WasFreed knows the handles of all of them.
func TestManyObjects(t *testing.T) {
	const n = 20000
	var l Objects
	var handles []uint64
	for i := range n {
		handles = append(handles, l.Add(&Object{Name: fmt.Sprint(i)}))
	}
	for i, h := range handles {
		if i%2 == 0 {
			l.Free(h)
			l.Free(h)
		}
	}
	for i, h := range handles {
		obj := l.Get(h)
		switch {
		case !l.WasFreed(h):
			t.Fatalf("WasFreed does not know the handle of object %d", i)
		case obj == nil && (i%2 == 1 || i >= n-2*MaxFreedObjects):
			t.Fatalf("object %d is not in the table", i)
		case obj != nil && (obj.Name != fmt.Sprint(i) || obj.Freed.Load() != (i%2 == 0)):
			t.Fatalf("object %d is %q, freed is %v", i, obj.Name, obj.Freed.Load())
		}
	}
	for _, h := range []uint64{0, 16, mem.HandleBase - 16, handles[3] + 1, handles[n-1] + 16} {
		if l.Get(h) != nil || l.WasFreed(h) {
			t.Errorf("%#x is a handle", h)
		}
	}
	live, known := 0, 0
	l.Each(func(uint64, *Object) { live++ })
	l.ByHandle.Range(func(any, any) bool { known++; return true })
	if live != n/2 || known != n/2+MaxFreedObjects {
		t.Errorf("%d objects and %d more, want %d and %d", live, known-live, n/2, MaxFreedObjects)
	}
}

// BenchmarkObjects measures adding, finding and removing objects.
func BenchmarkObjects(b *testing.B) {
	var l Objects
	h := l.Add(&Object{})
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.Get(h)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			l.Free(l.Add(&Object{}))
		}
	})
}
