package kernels

import (
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

func init() {
	register(&Workload{
		Name: "strsearch", Doc: "occurrences of words in many texts, by automata",
		N: 1 << 11, Max: 1 << 20, SizeDoc: "texts",
		Origin: "Knuth, Morris and Pratt, Fast pattern matching in strings (1977); strsearch of Kim et al. 2013",
		Papers: []string{"kim2013"},
		Run:    strsearch,
	})
}

func strsearch(s *Session) error {
	words := []string{"a", "ab", "aba", "cabbage", "bacca", "aaaa", "abacabacab", "nowhere"}
	r := newRNG(1)
	texts := make([]string, s.N)
	for i := range texts {
		b := make([]byte, r.intn(512))
		for j := range b {
			b[j] = "aaabbcge"[r.intn(8)]
		}
		texts[i] = string(b)
		if i%16 == 0 {
			texts[i] += words[r.intn(len(words))]
		}
	}
	firstWord, firstText := starts(words), starts(texts)
	word, text := []byte(strings.Join(words, "")), []byte(strings.Join(texts, ""))
	dWord, dFirstWord, dText, dFirstText := upload(s, word), upload(s, firstWord), upload(s, text), upload(s, firstText)
	automata := alloc[uint8](s, (len(word)+len(words))*256)
	count := alloc[int32](s, len(words)*s.N)
	if err := s.Launch("strsearch_build", ptx.Dim(1), ptx.Dim(len(words)), len(words), dWord, dFirstWord, automata); err != nil {
		return err
	}
	if err := s.Launch("strsearch", ptx.Dim(blocks(s.N, 64)), ptx.Dim(64), len(words), dFirstWord, automata, s.N, dText, dFirstText, count); err != nil {
		return err
	}
	var want []int32
	total := int32(0)
	for _, w := range words {
		for _, t := range texts {
			n := int32(0)
			for { // strings.Count does not count overlaps
				start := strings.Index(t, w)
				if start < 0 {
					break
				}
				n++
				t = t[start+1:]
			}
			want = append(want, n)
			total += n
		}
	}
	s.Summary = fmt.Sprintf("found %d words %d times in %d texts of %d bytes", len(words), total, s.N, len(text))
	return Equal("count", interp.Slice[int32](count), want)
}

// starts returns the offset of each string in the concatenation of the list, and the length of the concatenation.
func starts(list []string) []int32 {
	first := []int32{0}
	for _, t := range list {
		first = append(first, first[len(first)-1]+int32(len(t)))
	}
	return first
}
