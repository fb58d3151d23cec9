package visible

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// plainTexts has the ASCII text for each character that gemu draws or prints with.
var plainTexts = map[rune]string{
	'─': "-", '│': "|", '┌': "+", '┐': "+", '└': "+", '┘': "+", '├': "+", '┤': "+", '┬': "+", '┴': "+", '┼': "+",
	'╭': "+", '╮': "+", '╯': "+", '╰': "+", '═': "=", '║': "|",
	'█': "#", '▓': "=", '░': ".", '▁': "1", '▂': "2", '▃': "3", '▄': "4", '▅': "5", '▆': "6", '▇': "7",
	'▶': ">", '▼': "v", '▲': "^", '◀': "<", '●': "*", '○': "o", '•': "*",
	'→': "->", '←': "<-", '↑': "^", '↓': "v", '↔': "<->", '⇒': "=>",
	'…': "...", '·': "*", '×': "x", '÷': "/", '±': "+-", '−': "-", '≤': "<=", '≥': ">=", '≠': "!=", '≈': "~", '∞': "inf", '∑': "sum", 'Σ': "sum",
	'¼': "1/4", '½': "1/2", '¾': "3/4", '²': "^2", '³': "^3", 'ᵀ': "^T", 'µ': "u", 'μ': "u", 'π': "pi", 'α': "alpha", 'β': "beta", '°': " degrees", '√': "sqrt",
	'–': "-", '—': "-", '‘': "'", '’': "'", '“': `"`, '”': `"`, '\u00a0': " ",
	'é': "e", 'è': "e", 'á': "a", 'à': "a", 'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'ñ': "n", 'ç': "c",
}

// laneSet is a set of lanes as gemu prints it (probe.LaneText), with at least a comma or a range.
var laneSet = regexp.MustCompile(`\blanes [0-9]+(?:[-,][0-9]+)+\b`)

// Plain returns a text of gemu without drawing characters, and with sets of lanes in words: "lanes 0-3,7" is "lanes 0 to 3 and 7".
// It leaves all other text as it is, ASCII or not.
func Plain(text string) string {
	text = laneSet.ReplaceAllStringFunc(text, laneWords)
	if strings.IndexFunc(text, func(r rune) bool { return plainTexts[r] != "" }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if s := plainTexts[r]; s != "" {
			b.WriteString(s)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// laneWords writes a set of lanes in words.
func laneWords(set string) string {
	list := strings.Split(strings.TrimPrefix(set, "lanes "), ",")
	for i, r := range list {
		list[i] = strings.Replace(r, "-", " to ", 1)
	}
	if n := len(list); n > 1 {
		list = append(list[:n-2], list[n-2]+" and "+list[n-1])
	}
	return "lanes " + strings.Join(list, ", ")
}

// PlainWriter writes text through Plain. It keeps the bytes of a character that is not complete until its next Write.
type PlainWriter struct {
	w    io.Writer
	rest []byte
}

// NewPlainWriter returns a writer of plain text.
func NewPlainWriter(w io.Writer) *PlainWriter { return &PlainWriter{w: w} }

// Write writes text. It returns the error of the underlying writer.
func (p *PlainWriter) Write(b []byte) (int, error) {
	text := append(p.rest, b...)
	p.rest = nil
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				text, p.rest = text[:len(text)-n], append([]byte(nil), tail...)
			}
			break
		}
	}
	if !utf8.Valid(text) { // data, not text
		if _, err := p.w.Write(text); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if _, err := io.WriteString(p.w, Plain(string(text))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close writes the bytes of an incomplete character.
func (p *PlainWriter) Close() error {
	_, err := p.w.Write(p.rest)
	p.rest = nil
	return err
}
