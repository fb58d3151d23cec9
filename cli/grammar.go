package cli

import (
	"os"
	"reflect"
	"strings"
)

// grammar is what kong reads the arguments by. Where they begin with a command, the others are there by their names and
// lines of help alone: it takes kong half of the time of a short run to read all their flags.
func grammar(args []string) any {
	if _, completing := os.LookupEnv("COMP_LINE"); len(args) == 0 || completing {
		return new(cli)
	}
	t, found := reflect.TypeFor[cli](), false
	var fields []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if _, command := f.Tag.Lookup("cmd"); !command {
		} else if name == args[0] {
			found = true
		} else if _, passes := f.Tag.Lookup("passthrough"); !passes { // it has an argument, which kong wants to see, and no flags
			f.Type = reflect.TypeFor[struct{}]()
		}
		fields = append(fields, f)
	}
	if !found {
		return new(cli)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}
