package driver

// This file is user objects (driver API, "Graph Management"): things of the client's that live as long as
// graphs refer to them.

import "maps"

// UserObject is a thing of the client's, or of the driver's, that is destroyed when there are no references to it. Those that
// graphs have are graph's own: executable ones have as many as the graph had that they were made from.
type UserObject struct {
	handle     Handle
	destroy    func() // runs in a thread of the driver
	references uint
}

// objectReferences is how many references to user objects something has.
type objectReferences map[*UserObject]uint

// release takes references away. d.mu is held.
func (o *UserObject) release(d *Driver, n uint) {
	if o.references -= n; o.references == 0 {
		delete(d.objects, o.handle)
		go o.destroy()
	}
}

// add adds references to an object, which were somebody else's. d.mu is held.
func (k *objectReferences) add(o *UserObject, n uint) {
	if *k == nil {
		*k = objectReferences{}
	}
	(*k)[o] += n
}

// copy is references of another's own. d.mu is held.
func (k objectReferences) copy() objectReferences {
	for o, n := range k {
		o.references += n
	}
	return maps.Clone(k)
}

// release takes all references away. d.mu is held.
func (k objectReferences) release(d *Driver) {
	for o, n := range k {
		o.release(d, n)
	}
}

// release takes references of the graph's away when its last launch is over. d.mu is held.
func (x *GraphExec) release(d *Driver, k objectReferences) {
	last := x.last
	if len(k) == 0 {
		return
	}
	go func() {
		wait([]*task{last})
		d.mu.Lock()
		defer d.mu.Unlock()
		k.release(d)
	}()
}

// all are references of another's own to what the graph and its children refer to. d.mu is held.
func (g *Graph) all() objectReferences {
	all := objectReferences{}
	maps.Copy(all, g.objectReferences.copy())
	for _, inner := range g.inner() {
		for o, n := range inner.all() {
			all[o] += n
		}
	}
	return all
}

// Flags of user objects.
const (
	noDestructorSync uint32 = 1 // of UserObjectCreate: nobody waits for the destructor
	moveReferences   uint32 = 1 // of GraphRetainUserObject: they are the caller's until then
)

// userObject is the user object with a handle, for a call with a number of references. d.mu is held.
func (d *Driver) userObject(h Handle, n uint32) (*UserObject, error) {
	o, ok := d.objects[h].(*UserObject)
	switch {
	case !ok:
		return nil, fail(InvalidValue, "%#x is no user object", uint64(h))
	case n == 0 || n > 1<<31-1:
		return nil, fail(InvalidValue, "%d references", n)
	}
	return o, nil
}

// UserObjectCreate is cuUserObjectCreate: the caller has n references.
func (d *Driver) UserObjectCreate(destroy func(), n, flags uint32) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == 0 || n > 1<<31-1 || flags != noDestructorSync {
		return 0, fail(InvalidValue, "%d references, flags %#x", n, flags)
	}
	o := &UserObject{destroy: destroy, references: uint(n)}
	o.handle = d.add(o)
	return o.handle, nil
}

// UserObjectRetain is cuUserObjectRetain.
func (d *Driver) UserObjectRetain(h Handle, n uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.userObject(h, n)
	if err != nil {
		return err
	}
	o.references += uint(n)
	return nil
}

// UserObjectRelease is cuUserObjectRelease.
func (d *Driver) UserObjectRelease(h Handle, n uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.userObject(h, n)
	switch {
	case err != nil:
		return err
	case uint(n) > o.references:
		return fail(InvalidValue, "%d references of %d", n, o.references)
	}
	o.release(d, uint(n))
	return nil
}

// GraphRetainUserObject is cuGraphRetainUserObject.
func (d *Driver) GraphRetainUserObject(graph, h Handle, n, flags uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := object[*Graph](d, graph)
	if err != nil {
		return err
	}
	o, err := d.userObject(h, n)
	switch {
	case err != nil:
		return err
	case flags&^moveReferences != 0:
		return fail(InvalidValue, "flags %#x", flags)
	case flags&moveReferences == 0:
		o.references += uint(n)
	}
	g.objectReferences.add(o, uint(n))
	return nil
}

// GraphReleaseUserObject is cuGraphReleaseUserObject.
func (d *Driver) GraphReleaseUserObject(graph, h Handle, n uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := object[*Graph](d, graph)
	if err != nil {
		return err
	}
	o, err := d.userObject(h, n)
	switch {
	case err != nil:
		return err
	case uint(n) > g.objectReferences[o]:
		return fail(InvalidValue, "%d references of %d", n, g.objectReferences[o])
	}
	if g.objectReferences[o] -= uint(n); g.objectReferences[o] == 0 {
		delete(g.objectReferences, o)
	}
	o.release(d, uint(n))
	return nil
}
