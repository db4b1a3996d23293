module example.com/go-chi

go 1.24

require github.com/go-chi/chi/v5 v5.2.3
