package random

// This file changes the text of PTX modules token by token. The result is nearly PTX, but mostly invalid.

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// tokenKind groups mutually replaceable tokens.
type tokenKind int

const (
	blankToken  tokenKind = iota // blanks and comments
	nameToken                    // a name, or an opcode with its modifiers
	dottedToken                  // a directive or a type
	numberToken
	textToken // in quotes
	markToken // a single character
	tokenKinds
)

var tokenSyntax = regexp.MustCompile(`(?s)(\s+|//[^\n]*|/\*.*?\*/)|([%$_A-Za-z][\w$%.:]*)|(\.[A-Za-z][\w:]*)|(-?\d[\w.]*)|("[^"\n]*")|(.)`)

type token struct {
	kind tokenKind
	text string
}

func tokensOf(src string) (list []token) {
	for _, match := range tokenSyntax.FindAllStringSubmatchIndex(src, -1) {
		for k := range tokenKinds {
			if match[2*k+2] >= 0 {
				list = append(list, token{k, src[match[0]:match[1]]})
			}
		}
	}
	return list
}

// Mutator changes tokens of modules.
type Mutator struct {
	modules    []string
	vocabulary [tokenKinds][]string
}

// NewMutator makes a Mutator whose tokens come from the modules.
func NewMutator(modules []string) *Mutator {
	m := &Mutator{modules: modules}
	for _, src := range modules {
		for _, t := range tokensOf(src) {
			m.vocabulary[t.kind] = append(m.vocabulary[t.kind], t.text)
		}
	}
	for k := range m.vocabulary {
		slices.Sort(m.vocabulary[k])
		m.vocabulary[k] = slices.Compact(m.vocabulary[k])
	}
	return m
}

// extremes are numbers at the limits of types, and beyond.
var extremes = []string{
	"0", "-1", "1", "2", "3", "31", "32", "33", "63", "64", "65535", "65536", "16777216", "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "0xffffffffffffffff", "0x10000000000000000",
	"0f7fc00000", "0fFFFFFFFF", "0d7ff0000000000000", "1e308", "1e-400", "0.5", "1U", "077777777777", "0b11111111", strings.Repeat("9", 400),
}

// unusualValues are pieces of text that are invalid in every module, or at most places.
var unusualValues = []string{
	"\x00", "\xff", "\xc3\x28", "é", "\u2028", "\"", "\\", "/*", "*/", "//", "\n", "\r", "{", "}", "(", ")", "[", "]", "<", ">", ";", ";;", ",", ":", "@", "@!", "!", "-", "~", "+", "|", "%", "$", "_", "=", "#", "'",
	strings.Repeat("x", 5000), "%" + strings.Repeat("r", 70000), strings.Repeat("{", 3000), strings.Repeat("(", 3000), strings.Repeat("-", 3000), strings.Repeat("[", 3000), strings.Repeat(".v4", 1000),
}

// Mutant returns a module of the list with some changed tokens, and its index.
func (m *Mutator) Mutant(seed uint64) (src string, module int) {
	r := rand.New(rand.NewPCG(seed, 0x70c3))
	module = r.IntN(len(m.modules))
	list := tokensOf(m.modules[module])
	for range 1 + r.IntN(1+r.IntN(4)) {
		list = m.change(r, list)
	}
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.text)
	}
	return b.String(), module
}

// change changes a token or a statement.
func (m *Mutator) change(r *rand.Rand, list []token) []token {
	var solid []int // tokens except blanks
	for i, t := range list {
		if t.kind != blankToken {
			solid = append(solid, i)
		}
	}
	if len(solid) == 0 {
		return list
	}
	i := solid[r.IntN(len(solid))]
	t := list[i]
	randomToken := func(kind tokenKind) token {
		if words := m.vocabulary[kind]; len(words) > 0 {
			return token{kind, words[r.IntN(len(words))]}
		}
		return t
	}
	switch r.IntN(12) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1:
		return slices.Insert(list, i, t, token{blankToken, " "})
	case 2:
		j := solid[r.IntN(len(solid))]
		list[i], list[j] = list[j], list[i]
	case 3: // a token of the same kind from this module
		for range 20 {
			if j := solid[r.IntN(len(solid))]; list[j].kind == t.kind && list[j].text != t.text {
				list[i] = list[j]
				break
			}
		}
	case 4, 5:
		list[i] = randomToken(t.kind)
	case 6:
		list[i] = randomToken(tokenKind(1 + r.IntN(int(tokenKinds)-1)))
	case 7: // a number
		for range 20 {
			if j := solid[r.IntN(len(solid))]; list[j].kind == numberToken {
				i = j
				break
			}
		}
		list[i] = token{numberToken, extremes[r.IntN(len(extremes))]}
	case 8:
		list[i] = token{markToken, unusualValues[r.IntN(len(unusualValues))]}
	case 9: // add, remove or replace a modifier
		if parts := strings.Split(t.text, "."); t.kind == nameToken && len(parts) > 1 {
			k := 1 + r.IntN(len(parts)-1)
			switch d := randomToken(dottedToken).text; r.IntN(3) {
			case 0:
				parts[k] = strings.TrimPrefix(d, ".")
			case 1:
				parts = slices.Delete(parts, k, k+1)
			default:
				parts = slices.Insert(parts, k, strings.TrimPrefix(d, "."))
			}
			list[i] = token{nameToken, strings.Join(parts, ".")}
		}
	case 10: // remove a statement
		a, b := statement(list, i)
		return slices.Delete(list, a, b)
	case 11: // copy a statement to another place
		a, b := statement(list, i)
		copied := slices.Clone(list[a:b])
		return slices.Insert(list, solid[r.IntN(len(solid))], copied...)
	}
	return list
}

// statement returns the range of tokens around token i up to the semicolons.
func statement(list []token, i int) (a, b int) {
	for a = i; a > 0 && list[a-1].text != ";"; a-- {
	}
	for b = i; b < len(list)-1 && list[b].text != ";"; b++ {
	}
	return a, b + 1
}
