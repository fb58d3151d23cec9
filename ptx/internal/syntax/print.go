package syntax

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Fprint writes the tree of a file, one node on each line, with children indented. Empty fields are left out.
func Fprint(w io.Writer, f *File) {
	fmt.Fprintf(w, "File %q\n", f.Name)
	for _, item := range f.Items {
		v := reflect.ValueOf(item).Elem()
		for i := 1; i < v.NumField(); i++ {
			if !v.Field(i).IsNil() {
				node(w, v.Field(i), 1)
			}
		}
	}
}

// node writes a node and, indented more, its children; depth is the number of its ancestors.
func node(w io.Writer, v reflect.Value, depth int) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	indent := strings.Repeat("  ", depth)
	t := v.Type()
	if v.Kind() != reflect.Struct {
		fmt.Fprintf(w, "%s%s\n", indent, scalar(v))
		return
	}
	line := indent + t.Name()
	var children []func()
	var fields func(v reflect.Value)
	fields = func(v reflect.Value) {
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			switch {
			case !v.Type().Field(i).IsExported() || name == "End" || name == "GuardPos" || f.IsZero():
			case name == "Pos":
				line += fmt.Sprintf(" @%v:%v", f.FieldByName("Line"), columnOf(f))
			case v.Type().Field(i).Anonymous:
				fields(f)
			case f.Type() == reflect.TypeFor[Const]():
				line += fmt.Sprintf(" %s=%s", name, f.Interface().(Const))
			case f.Kind() == reflect.Slice && (f.Type().Elem().Kind() == reflect.String || f.Type().Elem().Kind() == reflect.Int):
				line += fmt.Sprintf(" %s=%v", name, f)
			case f.Kind() == reflect.Slice:
				for j := range f.Len() {
					children = append(children, func() { node(w, f.Index(j), depth+1) })
				}
			case f.Kind() == reflect.Pointer || f.Kind() == reflect.Struct || f.Kind() == reflect.Interface:
				children = append(children, func() { node(w, f, depth+1) })
			default:
				line += fmt.Sprintf(" %s=%s", name, scalar(f))
			}
		}
	}
	fields(v)
	fmt.Fprintln(w, line)
	for _, c := range children {
		c()
	}
}

// columnOf returns the column of a Pos or of a lexer.Position.
func columnOf(pos reflect.Value) any {
	if f := pos.FieldByName("Col"); f.IsValid() {
		return f
	}
	return pos.FieldByName("Column")
}

func scalar(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprint(v)
}

func (c Const) String() string {
	switch c.Kind {
	case F32:
		return fmt.Sprintf("0f%08X", c.Bits)
	case F64:
		return fmt.Sprintf("0d%016X", c.Bits)
	case Unsigned:
		return fmt.Sprintf("%dU", c.Bits)
	}
	return fmt.Sprint(int64(c.Bits))
}

func (k OperandKind) String() string {
	return [...]string{"?", "name", "number", "vector", "address", "list"}[k]
}
