package slots

import "container/heap"

// ordered is a heap whose items know their positions, so any item can be moved or removed in
// O(log n).
type ordered[T any] struct {
	items []T
	less  func(a, b T) bool
	// place returns where an item stores its index, counted from 1; 0 if it is absent.
	place func(T) *int
}

// first returns the least item; false if there is none.
func (o *ordered[T]) first() (T, bool) {
	if len(o.items) == 0 {
		var none T
		return none, false
	}
	return o.items[0], true
}

// fix inserts an item, or moves a changed one.
func (o *ordered[T]) fix(item T) {
	if at := *o.place(item); at > 0 {
		heap.Fix(o, at-1)
		return
	}
	heap.Push(o, item)
}

// remove removes an item if present.
func (o *ordered[T]) remove(item T) {
	if at := *o.place(item); at > 0 {
		heap.Remove(o, at-1)
	}
}

// Len implements sort.Interface.
func (o *ordered[T]) Len() int { return len(o.items) }

// Less implements sort.Interface.
func (o *ordered[T]) Less(i, j int) bool { return o.less(o.items[i], o.items[j]) }

// Swap implements sort.Interface.
func (o *ordered[T]) Swap(i, j int) {
	o.items[i], o.items[j] = o.items[j], o.items[i]
	*o.place(o.items[i]), *o.place(o.items[j]) = i+1, j+1
}

// Push implements heap.Interface.
func (o *ordered[T]) Push(item any) {
	o.items = append(o.items, item.(T))
	*o.place(item.(T)) = len(o.items)
}

// Pop implements heap.Interface.
func (o *ordered[T]) Pop() any {
	last := len(o.items) - 1
	item := o.items[last]
	var none T
	o.items[last] = none // for the garbage collector
	o.items = o.items[:last]
	*o.place(item) = 0
	return item
}
