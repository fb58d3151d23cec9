package notation

import (
	"errors"
	"strings"
	"time"
)

// Span is a time from 0 on. It is a flag of the command.
type Span time.Duration

// UnmarshalText reads a span like 90s, or 90.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := ParseSpan(string(text))
	*s = Span(d)
	return err
}

// String is the span as time.Duration prints it.
func (s Span) String() string { return time.Duration(s).String() }

// ParseSpan reads a span: a duration of Go, or a number of seconds.
func ParseSpan(text string) (time.Duration, error) {
	number := text
	if text != "" && strings.Trim(text, "0123456789.") == "" {
		number += "s"
	}
	d, err := time.ParseDuration(number)
	if err != nil || d < 0 || d == 0 && strings.ContainsAny(number, "123456789") { // less than a nanosecond is not "no limit"
		return 0, errors.New("want a time such as 90s, 1m30s or 500ms; a number without a unit is seconds")
	}
	return d, nil
}
