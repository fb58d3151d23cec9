package stream

import "iter"

// Table has values of lines, by their number. The values of neighbouring lines are next to each other, so that a program that goes through
// memory finds them in the caches of the host, as it would not in a map. A page has values for 64 lines, also if a program uses a single one:
// memory is the price of the time if the lines are far apart.
type Table[V any] struct {
	pages  map[uint64]*tablePage[V]
	number uint64        // number of the latest page
	latest *tablePage[V] // nil: there is no page
}

// tableLines is the number of lines of a page.
const tableLines = 64

type tablePage[V any] [tableLines]V

// Find returns the value of a line; nil if At was called for no line of its page. The value is zero if At was not called for the line.
func (t *Table[V]) Find(line uint64) *V {
	if page := t.page(line / tableLines); page != nil {
		return &page[line%tableLines]
	}
	return nil
}

// At returns the value of a line to change it. It is zero at first.
func (t *Table[V]) At(line uint64) *V {
	page := t.page(line / tableLines)
	if page == nil {
		if page = new(tablePage[V]); t.pages == nil {
			t.pages = map[uint64]*tablePage[V]{}
		}
		t.number, t.latest = line/tableLines, page
		t.pages[t.number] = page
	}
	return &page[line%tableLines]
}

// page returns a page; nil if there is none.
func (t *Table[V]) page(number uint64) *tablePage[V] {
	if t.latest != nil && t.number == number {
		return t.latest
	}
	page := t.pages[number]
	if page != nil {
		t.number, t.latest = number, page
	}
	return page
}

// Clear makes the values of lines zero.
func (t *Table[V]) Clear(r LineRange) {
	for line := r.First; line < r.End; {
		end := min(line-line%tableLines+tableLines, r.End)
		if page := t.page(line / tableLines); page != nil {
			clear(page[line%tableLines:][:end-line])
		}
		line = end
	}
}

// All yields the lines of all pages with their values, in any order.
func (t *Table[V]) All() iter.Seq2[uint64, *V] {
	return func(yield func(uint64, *V) bool) {
		for number, page := range t.pages {
			for i := range page {
				if !yield(number*tableLines+uint64(i), &page[i]) {
					return
				}
			}
		}
	}
}
