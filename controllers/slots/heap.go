package slots

// heap is a binary heap whose items know their places, so that one in the middle
// can be moved or removed in O(log n). container/heap with types.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
	// place is where an item keeps its index, counted from 1; 0 if it is not here.
	place func(T) *int
}

// first is the least item, and false if there is none.
func (h *heap[T]) first() (T, bool) {
	if len(h.items) == 0 {
		var none T
		return none, false
	}
	return h.items[0], true
}

// fix puts an item, new or changed, in its place.
func (h *heap[T]) fix(item T) {
	at := h.place(item)
	if *at == 0 {
		h.items = append(h.items, item)
		*at = len(h.items)
	}
	h.settle(*at - 1)
}

// remove takes an item out, if it is in.
func (h *heap[T]) remove(item T) {
	at := h.place(item)
	if *at == 0 {
		return
	}
	i, last := *at-1, len(h.items)-1
	h.swap(i, last)
	var none T
	h.items[last] = none // for the garbage collector
	h.items = h.items[:last]
	*at = 0
	if i < last {
		h.settle(i)
	}
}

// settle moves the item at i up or down to where it belongs.
func (h *heap[T]) settle(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			break
		}
		h.swap(i, parent)
		i = parent
	}
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]), *h.place(h.items[j]) = i+1, j+1
}
