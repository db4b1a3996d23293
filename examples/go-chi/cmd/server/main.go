// Command server shows notes as a page and as JSON.
package main

import (
	"context"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"example.com/go-chi/internal/notes"
)

func main() {
	if err := run(); err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}

func run() error {
	pages, err := template.ParseGlob("templates/*.html")
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr:              ":" + port(),
		Handler:           routes(pages, notes.NewStore()),
		ReadHeaderTimeout: 5 * time.Second,
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	go func() {
		<-stop.Done()
		drain, done := context.WithTimeout(context.Background(), 8*time.Second)
		defer done()
		_ = server.Shutdown(drain)
	}()
	slog.Info("listening", "address", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func routes(pages *template.Template, store *notes.Store) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RealIP, middleware.Logger, middleware.Recoverer)
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		if err := pages.ExecuteTemplate(w, "index.html", store.All()); err != nil {
			slog.Error("could not show the page", "error", err)
		}
	})
	r.Route("/api/notes", store.Routes)
	r.Handle("/static/*", http.StripPrefix("/static/", http.FileServer(http.Dir("static"))))
	return r
}

func port() string {
	if port := os.Getenv("PORT"); port != "" {
		return port
	}
	return "8080"
}
