// Package notation reads small texts as users write them (lists with brackets, sizes in bytes, spans of time), writes spans of
// time and lists of names, computes percentages, and finds the name that was probably meant.
package notation
