package cli

import (
	"os"
	"reflect"
	"strings"
)

// grammar returns the grammar of the command line for kong. If args begin with a command, the grammar has only the name and the
// line of help of all other commands, because kong needs half of the time of a short run to read all their flags.
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
		} else if _, passes := f.Tag.Lookup("passthrough"); !passes { // kong must see the argument of a passthrough command
			f.Type = reflect.TypeFor[struct{}]()
		}
		fields = append(fields, f)
	}
	if !found {
		return new(cli)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}
