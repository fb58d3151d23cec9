package notation

import (
	"errors"
	"strconv"
	"strings"
)

// Size is a number of bytes. It is a flag of the command.
type Size uint64

// UnmarshalText reads a size like 512M.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := ParseSize(string(text))
	*s = Size(n)
	return err
}

// ParseSize reads a size like 512M: a number from 1 on, and K, M, G or T for the powers of
// 1024.
func ParseSize(text string) (uint64, error) {
	shift := 0
	digits := strings.TrimRight(text, "KMGT")
	if len(digits) == len(text)-1 {
		shift = 10 * (1 + strings.IndexByte("KMGT", text[len(digits)]))
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || n > 1<<46>>shift || len(digits) < len(text)-1 {
		return 0, errors.New("want a size such as 512M or 16G, at most 64T")
	}
	return n << shift, nil
}
