package notes

import "testing"

func TestAdd(t *testing.T) {
	store := NewStore()
	if note := store.Add("second"); note.ID != 2 || len(store.All()) != 2 {
		t.Fatalf("unexpected notes: %v", store.All())
	}
}
