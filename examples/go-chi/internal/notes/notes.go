// Package notes keeps notes in memory.
package notes

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"
)

type Note struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

type Store struct {
	mu    sync.Mutex
	notes []Note
}

func NewStore() *Store {
	return &Store{notes: []Note{{ID: 1, Text: "Hello from chi"}}}
}

func (s *Store) All() []Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Note(nil), s.notes...)
}

func (s *Store) Add(text string) Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := Note{ID: len(s.notes) + 1, Text: text}
	s.notes = append(s.notes, note)
	return note
}

// Routes serves the notes as JSON.
func (s *Store) Routes(r chi.Router) {
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, s.All())
	})
	r.Post("/", func(w http.ResponseWriter, r *http.Request) {
		var note Note
		if err := json.NewDecoder(r.Body).Decode(&note); err != nil || note.Text == "" {
			write(w, http.StatusBadRequest, map[string]string{"error": "a note needs a text"})
			return
		}
		write(w, http.StatusCreated, s.Add(note.Text))
	})
}

func write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
