package driver

// This file implements the properties and attributes of streams.

import (
	"encoding/binary"
	"maps"
)

// streamValue returns a value computed from a stream.
func streamValue[T any](t *Thread, h Handle, get func(*Stream) T) (v T, err error) {
	s, err := t.enterStream(h)
	if err != nil {
		return v, err
	}
	defer t.d.mu.Unlock()
	return get(s), nil
}

// StreamGetFlags is cuStreamGetFlags.
func (t *Thread) StreamGetFlags(h Handle) (uint32, error) {
	return streamValue(t, h, func(s *Stream) uint32 {
		if s.nonBlocking {
			return flagNonBlocking
		}
		return 0
	})
}

// StreamGetPriority is cuStreamGetPriority.
func (t *Thread) StreamGetPriority(h Handle) (int, error) {
	return streamValue(t, h, func(s *Stream) int { return s.priority })
}

// StreamAttribute is a CUlaunchAttributeID of a stream.
type StreamAttribute int32

// The attributes of a stream. They are hints, which are only stored.
const (
	StreamAccessPolicyWindow    StreamAttribute = 1  // range of addresses for the L2 cache
	StreamSynchronizationPolicy StreamAttribute = 3  // kind of waiting of the host
	StreamPriority              StreamAttribute = 8  // priority: lower numbers are more urgent
	StreamMemSyncDomainMap      StreamAttribute = 9  // numbers of the domains in which fences order memory
	StreamMemSyncDomain         StreamAttribute = 10 // domain of the stream's kernels
)

// AttributeValue is a CUlaunchAttributeValue.
type AttributeValue [64]byte

// check returns an error for a launch attribute that streams do not have.
func (a StreamAttribute) check() error {
	switch a {
	case StreamAccessPolicyWindow, StreamSynchronizationPolicy, StreamPriority, StreamMemSyncDomainMap, StreamMemSyncDomain:
		return nil
	}
	return fail(InvalidValue, "streams have no attribute %d: want a CUlaunchAttributeID of 1, 3, 8, 9 or 10", a)
}

// StreamSetAttribute is cuStreamSetAttribute.
func (t *Thread) StreamSetAttribute(h Handle, a StreamAttribute, v AttributeValue) error {
	s, err := t.enterStream(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := a.check(); err != nil {
		return err
	}
	if a == StreamPriority {
		s.priority = min(max(int(int32(binary.LittleEndian.Uint32(v[:]))), greatestPriority), 0)
		return nil
	}
	if s.attributes == nil {
		s.attributes = map[StreamAttribute]AttributeValue{}
	}
	s.attributes[a] = v
	return nil
}

// StreamGetAttribute is cuStreamGetAttribute. An unset attribute is zero.
func (t *Thread) StreamGetAttribute(h Handle, a StreamAttribute) (v AttributeValue, err error) {
	s, err := t.enterStream(h)
	if err != nil {
		return v, err
	}
	defer t.d.mu.Unlock()
	if err := a.check(); err != nil {
		return v, err
	}
	v = s.attributes[a]
	if a == StreamPriority {
		binary.LittleEndian.PutUint32(v[:], uint32(int32(s.priority)))
	}
	return v, nil
}

// StreamCopyAttributes is cuStreamCopyAttributes.
func (t *Thread) StreamCopyAttributes(to, from Handle) error {
	s, err := t.enterStream(to)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	source, err := t.stream(from)
	if err != nil {
		return err
	}
	s.attributes, s.priority = maps.Clone(source.attributes), source.priority
	return nil
}

// StreamGetCtx is cuStreamGetCtx.
func (t *Thread) StreamGetCtx(h Handle) (Handle, error) {
	return streamValue(t, h, func(s *Stream) Handle { return s.ctx.handle })
}

// StreamGetDevice is cuStreamGetDevice.
func (t *Thread) StreamGetDevice(h Handle) (int, error) {
	return streamValue(t, h, func(s *Stream) int { return s.ctx.dev.ordinal })
}

// StreamGetID is cuStreamGetId.
func (t *Thread) StreamGetID(h Handle) (uint64, error) {
	return streamValue(t, h, func(s *Stream) uint64 { return uint64(s.handle) })
}
