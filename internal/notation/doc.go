// Package notation reads and writes small texts as users write them: lists with brackets, sizes in bytes, spans of time, shares in
// percent; and it finds the name that was probably meant.
package notation
