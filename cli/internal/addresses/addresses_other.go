//go:build !linux && !darwin

package addresses
