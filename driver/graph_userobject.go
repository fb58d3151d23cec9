package driver

// This file implements user objects (driver API, "Graph Management"): objects of the client that are destroyed when the
// client and the graphs have released all references to them.

import "maps"

// UserObject is an object of the client or the driver. It is destroyed when it has no references. The client, graphs and
// executable graphs own references. An executable graph gets as many as its graph has.
type UserObject struct {
	handle     Handle
	destroy    func() // runs on a thread of the driver
	references uint
}

// objectReferences counts an owner's references to user objects.
type objectReferences map[*UserObject]uint

// release removes n references. The caller must hold d.mu.
func (o *UserObject) release(d *Driver, n uint) {
	if o.references -= n; o.references == 0 {
		delete(d.objects, o.handle)
		go o.destroy()
	}
}

// add makes k the owner of n existing references to o. The caller must hold d.mu.
func (k *objectReferences) add(o *UserObject, n uint) {
	if *k == nil {
		*k = objectReferences{}
	}
	(*k)[o] += n
}

// copy returns the same number of new references. The caller must hold d.mu.
func (k objectReferences) copy() objectReferences {
	for o, n := range k {
		o.references += n
	}
	return maps.Clone(k)
}

// release removes all references. The caller must hold d.mu.
func (k objectReferences) release(d *Driver) {
	for o, n := range k {
		o.release(d, n)
	}
}

// releaseAfterLastLaunch removes references of an executable graph when its last launch has ended. The caller must hold d.mu.
func (x *GraphExec) releaseAfterLastLaunch(d *Driver, k objectReferences) {
	last := x.last
	if len(k) == 0 {
		return
	}
	go func() {
		waitInBackground([]*task{last})
		d.mu.Lock()
		defer d.mu.Unlock()
		k.release(d)
	}()
}

// retainObjects makes new references to all user objects of the graph and its inner graphs. The caller must hold d.mu.
func (g *Graph) retainObjects() objectReferences {
	all := objectReferences{}
	maps.Copy(all, g.objectReferences.copy())
	for _, inner := range g.innerGraphs() {
		for o, n := range inner.retainObjects() {
			all[o] += n
		}
	}
	return all
}

// Flags of user objects.
const (
	noDestructorSync uint32 = 1 // flag of UserObjectCreate: the destructor runs asynchronously
	moveReferences   uint32 = 1 // flag of GraphRetainUserObject: the caller's references move to the graph
)

// userObject returns the user object with a handle, and checks a number of references. The caller must hold d.mu.
func (d *Driver) userObject(h Handle, n uint32) (*UserObject, error) {
	o, ok := d.objects[h].(*UserObject)
	switch {
	case !ok:
		return nil, fail(InvalidValue, "%#x is not the handle of a user object", uint64(h))
	case n == 0 || n > 1<<31-1:
		return nil, fail(InvalidValue, "%d references", n)
	}
	return o, nil
}

// UserObjectCreate is cuUserObjectCreate: the caller owns n references.
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
		return fail(InvalidValue, "%d references to release, only %d are held", n, o.references)
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
		return fail(InvalidValue, "%d references to release, only %d are held", n, g.objectReferences[o])
	}
	if g.objectReferences[o] -= uint(n); g.objectReferences[o] == 0 {
		delete(g.objectReferences, o)
	}
	o.release(d, uint(n))
	return nil
}
