package driver

import "testing"

// Attributes of streams are remembered, and copied; the priority is the stream's.
func TestStreamAttributes(t *testing.T) {
	c := newClient(t, nil)
	a := must(c.StreamCreate(0, greatestPriority))(t)
	b := must(c.StreamCreate(0, 0))(t)
	v := AttributeValue{1, 2, 3}
	c.ok(c.StreamSetAttribute(a, StreamAccessPolicyWindow, v))
	if got := must(c.StreamGetAttribute(b, StreamAccessPolicyWindow))(t); got != (AttributeValue{}) {
		t.Errorf("what was not set is %v", got)
	}
	c.ok(c.StreamCopyAttributes(b, a))
	if got := must(c.StreamGetAttribute(b, StreamAccessPolicyWindow))(t); got != v {
		t.Errorf("the copy is %v, want %v", got, v)
	}
	if got := must(c.StreamGetPriority(b))(t); got != greatestPriority {
		t.Errorf("the priority is %d, want %d", got, greatestPriority)
	}
	c.ok(c.StreamSetAttribute(b, StreamPriority, AttributeValue{}))
	if got := must(c.StreamGetAttribute(b, StreamPriority))(t); got != (AttributeValue{}) {
		t.Errorf("the priority is %v, want 0", got)
	}
	c.want(InvalidValue, "attribute 2", c.StreamSetAttribute(a, 2, v))
	c.want(InvalidHandle, "", c.StreamCopyAttributes(a, 12345))
}
